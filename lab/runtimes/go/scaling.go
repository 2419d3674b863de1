// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
)

// skynetRendezvousNode is a goroutine of the tree with unbuffered channels, as in the original
// program.
func skynetRendezvousNode(above chan<- int64, first, leaves int64) {
	if leaves == 1 {
		above <- first
		return
	}
	below := make(chan int64)
	part := leaves / 10
	for i := int64(0); i < 10; i++ {
		go skynetRendezvousNode(below, first+i*part, part)
	}
	sum := int64(0)
	for i := 0; i < 10; i++ {
		sum += <-below
	}
	above <- sum
}

func newSkynetRendezvous(size string) (workload, error) {
	job, err := newSkynetChannel(size)
	leaves := (job.tasks*9 + 1) / 10
	job.run = func() int64 {
		result := make(chan int64)
		go skynetRendezvousNode(result, 0, leaves)
		return <-result
	}
	return job, err
}

// excerpt pairs

// pairs: 64 pairs of goroutines that exchange numbers, each pair over two channels of its own.
func pairs(n int64) int64 {
	const count = 64
	var right [count]int64
	var done sync.WaitGroup
	done.Add(2 * count)
	for p := range right {
		share := n / count
		if int64(p) < n%count {
			share++
		}
		there, back, mine := make(chan int64), make(chan int64), &right[p]
		go func() {
			defer done.Done()
			count := int64(0)
			for i := int64(0); i < share; i++ {
				there <- i
				if <-back == i+1 {
					count++
				}
			}
			*mine = count
		}()
		go func() {
			defer done.Done()
			for i := int64(0); i < share; i++ {
				back <- <-there + 1
			}
		}()
	}
	done.Wait()
	sum := int64(0)
	for _, one := range right {
		sum += one
	}
	return sum
}

// excerpt end

// forEachProcessor starts a goroutine for each of GOMAXPROCS processors. A goroutine does its share
// of n operations; the answer is the number of operations with the right effect.
func forEachProcessor(n int64, body func(share int64) int64) int64 {
	processors := int64(runtime.GOMAXPROCS(0))
	results := make(chan int64, processors)
	for i := int64(0); i < processors; i++ {
		share := n / processors
		if i < n%processors {
			share++
		}
		go func() { results <- body(share) }()
	}
	sum := int64(0)
	for i := int64(0); i < processors; i++ {
		sum += <-results
	}
	return sum
}

// excerpt mutex-each

// mutexEach: each goroutine locks and unlocks a mutex of its own.
func mutexEach(n int64) int64 {
	return forEachProcessor(n, func(share int64) int64 {
		own := new(struct {
			sync.Mutex
			count int64
			_     [128]byte // no cache line in common with another goroutine's
		})
		right := int64(0)
		for i := int64(0); i < share; i++ {
			own.Lock()
			if own.count == i {
				right++
			}
			own.count++
			own.Unlock()
		}
		return right
	})
}

// excerpt end

// excerpt channel-each

// channelEach: each goroutine sends to a channel of its own and receives from it.
func channelEach(n int64) int64 {
	return forEachProcessor(n, func(share int64) int64 {
		own := make(chan int64, 128)
		right := int64(0)
		for i := int64(0); i < share; i++ {
			own <- i
			if <-own == i {
				right++
			}
		}
		return right
	})
}

// excerpt end

// excerpt fiber-create-block

// fiberCreateBlock: goroutines that each block once, made and waited for one after the other.
func fiberCreateBlock(n int64) int64 {
	numbers := make(chan int64)
	sum := int64(0)
	var done sync.WaitGroup
	for i := int64(0); i < n; i++ {
		done.Add(1)
		go func() {
			sum += <-numbers
			done.Done()
		}()
		runtime.Gosched() // it begins, and blocks
		numbers <- i
		done.Wait()
	}
	return sum
}

// excerpt end

// xorshift takes 2 ns a step at 3 GHz: six instructions, each of which waits for the one before it.
// The state never becomes 0 unless it begins as 0.
func xorshift(state, steps uint64) uint64 {
	for ; steps > 0; steps-- {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	return state
}

func work(job int64, steps int) int64 {
	if xorshift(uint64(job)+1, uint64(steps)) == 0 {
		return job + 1
	}
	return job
}

// excerpt pool

// pool: eight goroutines take jobs from a channel and put results into another.
func pool(n int64, steps int) int64 {
	jobs, results := make(chan int64, 128), make(chan int64, 128)
	for i := 0; i < 8; i++ {
		go func() {
			for job := range jobs {
				results <- work(job, steps)
			}
		}()
	}
	go func() {
		for job := int64(0); job < n; job++ {
			jobs <- job
		}
		close(jobs)
	}()
	sum := int64(0)
	for i := int64(0); i < n; i++ {
		sum += <-results
	}
	return sum
}

// excerpt end

func pooled(steps int) func(size string) (workload, error) {
	return summed(func(n int64) int64 { return pool(n, steps) })
}
