// SPDX-License-Identifier: Apache-2.0

package main

// excerpt fib

// fib is the naive recursion without a cutoff.
func fib(n int) int64 {
	if n < 2 {
		return int64(n)
	}
	return both(func() int64 { return fib(n - 1) }, func() int64 { return fib(n - 2) })
}

// excerpt end

func newFib(size string) (workload, error) {
	n, err := number("size", size, 0, 50)
	value, next := int64(0), int64(1)
	for i := 0; i < n; i++ {
		value, next = next, value+next
	}
	return workload{run: func() int64 { return fib(n) }, expected: value, tasks: 2*next - 1}, err
}
