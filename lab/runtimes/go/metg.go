// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	metgWidth = 64
	metgMost  = 1 << 15 // steps of xorshift of the longest task
	metgLeast = 4
)

// metgColumns calls f with each column on which column i of the step depends.
func metgColumns(pattern string, step, i int, f func(column int)) {
	inside := func(column int) {
		if column >= 0 && column < metgWidth {
			f(column)
		}
	}
	switch {
	case pattern == "trivial" || step == 0:
	case pattern == "random":
		for j := i - 2; j <= i+2; j++ {
			number := uint64(step*metgWidth+i)*metgWidth + uint64(int64(j+1))
			if mixed := number * 0x9E3779B97F4A7C15; j == i || (mixed>>32)%4 == 0 {
				inside(j)
			}
		}
	default:
		distance := 1
		if pattern == "fft" {
			distance = 1 << ((step - 1) % 6)
		}
		inside(i - distance)
		inside(i)
		inside(i + distance)
	}
}

// metgGraph is a graph of tasks. A run has a number, and a task whose predecessors all have the
// number of the run takes it, too.
type metgGraph struct {
	before, after [][]int32
	left          []atomic.Int32 // predecessors that have not run yet
	runs          []int64
	run           int64
	stepsOfTask   uint64
	done          sync.WaitGroup
}

func newMetgGraph(pattern string, steps int) *metgGraph {
	count := steps * metgWidth
	g := &metgGraph{before: make([][]int32, count), after: make([][]int32, count),
		left: make([]atomic.Int32, count), runs: make([]int64, count)}
	for task := range g.before {
		metgColumns(pattern, task/metgWidth, task%metgWidth, func(column int) {
			p := (task/metgWidth-1)*metgWidth + column
			g.before[task] = append(g.before[task], int32(p))
			g.after[p] = append(g.after[p], int32(task))
		})
	}
	return g
}

// execute runs a task, and then its successors that are ready: the first of them in this goroutine,
// the others in new ones.
// excerpt metg
func (g *metgGraph) execute(task int32) {
	for task >= 0 {
		right := g.run
		for _, p := range g.before[task] {
			if g.runs[p] != g.run {
				right = -1
			}
		}
		if xorshift(uint64(task)+1, g.stepsOfTask) == 0 {
			right = -1
		}
		g.runs[task] = right
		next := int32(-1)
		for _, successor := range g.after[task] {
			if g.left[successor].Add(-1) > 0 {
				continue
			}
			if next < 0 {
				next = successor
			} else {
				go g.execute(successor)
			}
		}
		g.done.Done()
		task = next
	}
}

func (g *metgGraph) runOnce() {
	g.run++
	g.done.Add(len(g.before))
	for task := range g.before {
		g.left[task].Store(int32(len(g.before[task])))
	}
	for task := range g.before {
		if len(g.before[task]) == 0 {
			go g.execute(int32(task))
		}
	}
	g.done.Wait()
}

// excerpt end

func (g *metgGraph) right() int64 {
	count := int64(0)
	for _, run := range g.runs {
		if run == g.run {
			count++
		}
	}
	return count
}

// secondsOfStep measures a step of xorshift while all processors work.
func secondsOfStep() float64 {
	const steps = 5_000_000
	least := 1.0
	for i := 0; i < 5; i++ {
		times := make([]float64, runtime.GOMAXPROCS(0))
		together(int64(len(times)), func(me int64) {
			start := time.Now()
			if xorshift(1, steps) != 0 {
				times[me] = time.Since(start).Seconds() / steps
			}
		})
		longest := 0.0
		for _, one := range times {
			longest = math.Max(longest, one)
		}
		least = math.Min(least, longest)
	}
	return least
}

// sweep returns METG(50 %) in microseconds, and the number of tasks that were right in all runs.
func (g *metgGraph) sweep(step float64) (metgUs float64, right int64) {
	tasks := float64(len(g.before))
	right = int64(len(g.before))
	lastGranularity, lastEfficiency := 0.0, 0.0
	for k := uint64(metgMost); k >= metgLeast; k /= 2 {
		g.stepsOfTask = k
		seconds := math.Inf(1)
		for i := 0; i < 3; i++ {
			start := time.Now()
			g.runOnce()
			seconds = math.Min(seconds, time.Since(start).Seconds())
			if found := g.right(); found < right {
				right = found
			}
		}
		granularity := seconds * float64(runtime.GOMAXPROCS(0)) / tasks
		efficiency := float64(k) * step / granularity
		if efficiency < 0.5 && lastGranularity != 0 {
			share := (lastEfficiency - 0.5) / (lastEfficiency - efficiency)
			return 1e6 * lastGranularity * math.Pow(granularity/lastGranularity, share), right
		}
		metgUs = 1e6 * granularity
		if efficiency < 0.5 {
			break // even the longest tasks are too short
		}
		lastGranularity, lastEfficiency = granularity, efficiency
	}
	return metgUs, right
}

func newMetg(pattern string) func(size string) (workload, error) {
	return func(size string) (workload, error) {
		steps, err := number("size", size, 1, 10000)
		if err != nil {
			return workload{}, err
		}
		g := newMetgGraph(pattern, steps)
		step, us := 0.0, 0.0
		run := func() (right int64) {
			if step == 0 {
				step = secondsOfStep()
			}
			us, right = g.sweep(step)
			return right
		}
		extra := func() string { return fmt.Sprintf(`, "metg_us": %.3f`, us) }
		tasks := int64(steps * metgWidth)
		return workload{run: run, expected: tasks, tasks: tasks, extra: extra}, nil
	}
}
