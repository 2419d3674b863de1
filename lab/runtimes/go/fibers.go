// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const mostOperations = 999999999

// counted makes a workload whose answer is the number of operations that were counted.
func counted(run func(n int64) int64) func(size string) (workload, error) {
	return func(size string) (workload, error) {
		n, err := number("size", size, 1, mostOperations)
		count := int64(n)
		return workload{run: func() int64 { return run(count) }, expected: count, tasks: count}, err
	}
}

// start runs f in a goroutine. It returns a channel that is closed when f has returned.
func start(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	return done
}

// together starts body(0) to body(count-1) and waits for their end.
func together(count int64, body func(me int64)) {
	ended := make([]<-chan struct{}, count)
	for me := range ended {
		me := int64(me)
		ended[me] = start(func() { body(me) })
	}
	for _, one := range ended {
		<-one
	}
}

// excerpt fiber-yield

// fiberYield: two goroutines that yield to each other.
func fiberYield(n int64) int64 {
	half := func(share int64, done *int64) <-chan struct{} {
		return start(func() {
			count := int64(0)
			for ; count < share; count++ {
				runtime.Gosched()
			}
			*done = count
		})
	}
	var a, b int64
	first, second := half(n-n/2, &a), half(n/2, &b)
	<-first
	<-second
	return a + b
}

// excerpt end

// excerpt fiber-create

// fiberCreate: goroutines that only count, created and waited for one after the other.
func fiberCreate(n int64) int64 {
	count := int64(0)
	var done sync.WaitGroup
	for i := int64(0); i < n; i++ {
		done.Add(1)
		go func() {
			count++
			done.Done()
		}()
		done.Wait()
	}
	return count
}

// excerpt end

// excerpt crew

// crewAtGate: n goroutines wait for a channel, which is closed when all of them wait. The answer is
// the number of calls of wait that returned true.
func crewAtGate(n int64, wait func(gate <-chan struct{}) bool) int64 {
	gate := make(chan struct{})
	var arrived, passed int64
	var done sync.WaitGroup
	done.Add(int(n))
	for i := int64(0); i < n; i++ {
		go func() {
			atomic.AddInt64(&arrived, 1)
			if wait(gate) {
				atomic.AddInt64(&passed, 1)
			}
			done.Done()
		}()
	}
	for atomic.LoadInt64(&arrived) < n {
		runtime.Gosched()
	}
	close(gate)
	done.Wait()
	return passed
}

// excerpt end

// fibersBlocked: n goroutines are blocked at the same time.
func fibersBlocked(n int64) int64 {
	return crewAtGate(n, func(gate <-chan struct{}) bool {
		<-gate
		return true
	})
}

// nap is the time that a sleeper sleeps, equal in every runtime: up to 100 ms, spread by a
// multiplicative hash.
func nap(sleeper int64) time.Duration {
	mixed := uint64(sleeper) * 0x9E3779B97F4A7C15
	return time.Duration((mixed>>32)%100000) * time.Microsecond
}

// excerpt sleepers

// sleepers: n goroutines, each of which sleeps for a time of its own.
func sleepers(n int64) int64 {
	var woken int64
	var done sync.WaitGroup
	done.Add(int(n))
	for i := int64(0); i < n; i++ {
		i := i
		go func() {
			time.Sleep(nap(i))
			atomic.AddInt64(&woken, 1)
			done.Done()
		}()
	}
	done.Wait()
	return woken
}

// excerpt end
