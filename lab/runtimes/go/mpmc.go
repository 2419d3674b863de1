// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
)

// manyToMany: so many producers and as many consumers share one channel.
// excerpt mpmc
func manyToMany(n int64, room int, eachSide int64) int64 {
	channel, sums := make(chan int64, room), make(chan int64, eachSide)
	var producers sync.WaitGroup
	first := int64(0)
	for i := int64(0); i < eachSide; i++ {
		last := first + n/eachSide
		if i < n%eachSide {
			last++
		}
		producers.Add(1)
		go func(first, last int64) {
			defer producers.Done()
			for number := first; number < last; number++ {
				channel <- number
			}
		}(first, last)
		first = last
	}
	for i := int64(0); i < eachSide; i++ {
		go func() {
			sum := int64(0)
			for number := range channel {
				sum += number
			}
			sums <- sum
		}()
	}
	producers.Wait()
	close(channel)
	sum := int64(0)
	for i := int64(0); i < eachSide; i++ {
		sum += <-sums
	}
	return sum
}

// excerpt end

// Half of the processors produce, at least one; or a given number of tasks.
func mpmc(room, tasks int) func(size string) (workload, error) {
	return summed(func(n int64) int64 {
		eachSide := tasks
		if eachSide == 0 {
			eachSide = runtime.GOMAXPROCS(0) / 2
		}
		if eachSide == 0 {
			eachSide = 1
		}
		return manyToMany(n, room, int64(eachSide))
	})
}
