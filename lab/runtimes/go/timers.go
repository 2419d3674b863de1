// SPDX-License-Identifier: Apache-2.0

package main

import "time"

// newTimerLateness: a goroutine sleeps n times, and records in microseconds how much too late it
// continues.
func newTimerLateness(size string) (workload, error) {
	n, err := number("size", size, 1, mostOperations)
	var late []float64
	run := func() int64 {
		late = make([]float64, 0, n)
		<-start(func() {
			for i := 0; i < n; i++ {
				pause := time.Millisecond + nap(int64(i))/100
				due := time.Now().Add(pause)
				time.Sleep(pause)
				if over := time.Since(due); over >= 0 {
					late = append(late, float64(over)/float64(time.Microsecond))
				}
			}
		})
		return int64(len(late))
	}
	extra := func() string {
		return percentiles(late, []string{"late_us_p50", "late_us_p99"}, []int{500, 990})
	}
	return workload{run: run, expected: int64(n), tasks: int64(n), extra: extra}, err
}

// timersCancelled: n goroutines wait for a channel for at most an hour. Then the channel is closed,
// and each goroutine stops its timer.
func timersCancelled(n int64) int64 {
	return crewAtGate(n, func(gate <-chan struct{}) bool {
		limit := time.NewTimer(time.Hour)
		defer limit.Stop()
		select {
		case <-gate:
			return true
		case <-limit.C:
			return false
		}
	})
}
