// SPDX-License-Identifier: Apache-2.0

package main

import "sync"

// excerpt forks

// both returns f() + g(). f runs in a goroutine of its own, and g in the calling goroutine.
func both(f, g func() int64) int64 {
	var a int64
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		a = f()
		done.Done()
	}()
	b := g()
	done.Wait()
	return a + b
}

// excerpt end

// pair returns the results of f, which runs in a goroutine of its own, and of g.
func pair[T any](f, g func() T) (T, T) {
	var a T
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		a = f()
		done.Done()
	}()
	b := g()
	done.Wait()
	return a, b
}

// sum returns f(0) + ... + f(count-1). Each call but the last runs in a goroutine of its own.
func sum(count int, f func(int) int64) int64 {
	if count == 0 {
		return 0
	}
	last := count - 1
	results := make([]int64, last)
	var done sync.WaitGroup
	done.Add(last)
	for i := range results {
		i := i // before Go 1.22, all rounds of a loop share its variable
		go func() {
			results[i] = f(i)
			done.Done()
		}()
	}
	total := f(last)
	done.Wait()
	for _, result := range results {
		total += result
	}
	return total
}

// all runs the functions. Each function but the last runs in a goroutine of its own.
func all(functions ...func()) {
	last := len(functions) - 1
	var done sync.WaitGroup
	done.Add(last)
	for _, f := range functions[:last] {
		f := f
		go func() {
			f()
			done.Done()
		}()
	}
	functions[last]()
	done.Wait()
}
