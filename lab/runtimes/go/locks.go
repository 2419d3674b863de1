// SPDX-License-Identifier: Apache-2.0

package main

import "sync"

// excerpt mutex

// countLocked: goroutines that count to n together, with one lock around each step.
func countLocked(goroutines, n int64) int64 {
	var mutex sync.Mutex
	count := int64(0)
	var done sync.WaitGroup
	done.Add(int(goroutines))
	for i := int64(0); i < goroutines; i++ {
		share := n / goroutines
		if i < n%goroutines {
			share++
		}
		go func() {
			for step := int64(0); step < share; step++ {
				mutex.Lock()
				count++
				mutex.Unlock()
			}
			done.Done()
		}()
	}
	done.Wait()
	return count
}

// excerpt end

func mutexFree(n int64) int64 { return countLocked(1, n) }

func mutexContended(n int64) int64 { return countLocked(4, n) }

// excerpt condition

// condition: two goroutines take turns. Each waits for its own turn.
func condition(n int64) int64 {
	var mutex sync.Mutex
	mine := [2]*sync.Cond{sync.NewCond(&mutex), sync.NewCond(&mutex)}
	turn, count := 0, int64(0)
	play := func(me int, rounds int64) <-chan struct{} {
		return start(func() {
			mutex.Lock()
			defer mutex.Unlock()
			for i := int64(0); i < rounds; i++ {
				for turn != me {
					mine[me].Wait()
				}
				count++
				turn = 1 - me
				mine[turn].Signal()
			}
		})
	}
	first, second := play(0, n-n/2), play(1, n/2)
	<-first
	<-second
	return count
}

// excerpt end
