// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const longSteps = 500_000 // 1 ms

// longGoroutines computes in twice as many goroutines as processors. It returns a function that
// ends them.
func longGoroutines() func() {
	var over atomic.Bool
	var done sync.WaitGroup
	for i := 0; i < 2*runtime.GOMAXPROCS(0); i++ {
		done.Add(1)
		go func() {
			state := uint64(1)
			for !over.Load() {
				state = xorshift(state, longSteps)
				runtime.Gosched()
			}
			if state != 0 { // uses the result of the work
				done.Done()
			}
		}()
	}
	return func() {
		over.Store(true)
		done.Wait()
	}
}

// percentiles describes samples of microseconds: the names of figures, and their places among
// 1,000 sorted samples.
func percentiles(samples []float64, names []string, of1000 []int) string {
	sort.Float64s(samples)
	text := ""
	for i, name := range names {
		if len(samples) > 0 {
			text += fmt.Sprintf(`, "%s": %.1f`, name, samples[(len(samples)-1)*of1000[i]/1000])
		}
	}
	return text
}

func besideLongOnes(kind string, moments func(us []float64) int64) func(string) (workload, error) {
	return func(size string) (workload, error) {
		n, err := number("size", size, 1, mostOperations)
		us := make([]float64, n)
		run := func() int64 {
			end := longGoroutines()
			defer end()
			return moments(us)
		}
		names := []string{kind + "_us_p50", kind + "_us_p99", kind + "_us_p999"}
		extra := func() string { return percentiles(us, names, []int{500, 990, 999}) }
		return workload{run: run, expected: int64(n), tasks: int64(n), extra: extra}, err
	}
}

func microseconds(start time.Time) float64 {
	return float64(time.Since(start)) / float64(time.Microsecond)
}

func pause(i int) { time.Sleep(time.Millisecond + nap(int64(i))/100) }

// besideSpawn: the time from the start of a goroutine to its first step.
// excerpt beside-spawn
func besideSpawn(us []float64) int64 {
	var served atomic.Int64
	<-start(func() {
		var all sync.WaitGroup
		for i := range us {
			i := i
			pause(i)
			all.Add(1)
			start := time.Now()
			go func() {
				us[i] = microseconds(start)
				served.Add(1)
				all.Done()
			}()
		}
		all.Wait()
	})
	return served.Load()
}

// excerpt end

// besideReply: the time of a request over a channel, and of the reply over another one.
// excerpt beside-reply
func besideReply(us []float64) int64 {
	requests, replies := make(chan int64, 2), make(chan int64, 2)
	server := start(func() {
		for got := range requests {
			replies <- got + 1
		}
	})
	served := int64(0)
	<-start(func() {
		for i := range us {
			pause(i)
			start := time.Now()
			requests <- int64(i)
			if <-replies == int64(i)+1 {
				served++
			}
			us[i] = microseconds(start)
		}
		close(requests)
	})
	<-server
	return served
}

// excerpt end
