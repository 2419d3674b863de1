// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

const leaf = 32

func multiplyLeaf(a, b, c []int32, n, stride int) {
	for i := 0; i < n; i++ {
		row := c[i*stride : i*stride+n]
		for k := 0; k < n; k++ {
			x := a[i*stride+k]
			other := b[k*stride : k*stride+n]
			for j := range row {
				row[j] += x * other[j]
			}
		}
	}
}

// multiply adds a * b to c by quadrants: two groups of four products with a join between the
// groups.
func multiply(a, b, c []int32, n, stride int) {
	if n <= leaf {
		multiplyLeaf(a, b, c, n, stride)
		return
	}
	k := n / 2
	down := k * stride
	// Multiplies one half of a's columns by the matching half of b's rows.
	four := func(a, b []int32) {
		all(func() { multiply(a, b, c, k, stride) },
			func() { multiply(a, b[k:], c[k:], k, stride) },
			func() { multiply(a[down:], b, c[down:], k, stride) },
			func() { multiply(a[down:], b[k:], c[down+k:], k, stride) })
	}
	four(a, b)
	four(a[k:], b[down:])
}

func matmul(n int) int64 {
	a, b, c := make([]int32, n*n), make([]int32, n*n), make([]int32, n*n)
	for i := range a {
		a[i], b[i] = 1, 1
	}
	multiply(a, b, c, n, n)
	for _, x := range c {
		if x != int32(n) {
			return 0
		}
	}
	return int64(n)
}

func newMatmul(size string) (workload, error) {
	n, err := number("size", size, leaf, 4096)
	if err == nil && n&(n-1) != 0 {
		err = fmt.Errorf("size must be a power of two, not '%s'", size)
	}
	level, tasks := int64(1), int64(1)
	for k := n; k > leaf; k /= 2 {
		level *= 8
		tasks += level
	}
	return workload{run: func() int64 { return matmul(n) }, expected: int64(n), tasks: tasks}, err
}
