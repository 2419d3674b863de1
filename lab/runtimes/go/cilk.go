// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"sort"
	"sync/atomic"
)

// The kernels of Cilk, as in workloads/cilk. A size is one of a table, since the number of nodes
// has no formula.
type cilkSize struct{ answer, nodes int64 }

func cilkSized(size string, known map[int]cilkSize) (int, cilkSize, error) {
	n, err := number("size", size, 0, 1<<30)
	if err != nil {
		return 0, cilkSize{}, err
	}
	about, found := known[n]
	if !found {
		return 0, about, fmt.Errorf("size must be one of the declared sizes, not '%s'", size)
	}
	return n, about, nil
}

var integrateSizes = map[int]cilkSize{
	100:   {25_005, 779_923},
	1000:  {250_000_500, 15_016_391},
	5000:  {156_250_012_500, 128_923_579},
	10000: {2_500_000_050_000, 350_009_975},
}

const integrateTolerance = 1e-9

// cubic is x³ + x. The conversions keep the compiler from fusing operations.
func cubic(x float64) float64 { return (float64(x*x) + 1) * x }

// excerpt integrate

// integrate is the area from x1 to x2, in a goroutine for the left half of each segment that is
// not accurate yet.
func integrate(x1, y1, x2, y2, area float64) float64 {
	half := (x2 - x1) / 2
	x := x1 + half
	y := cubic(x)
	left := float64((y1 + y) / 2 * half)
	right := float64((y + y2) / 2 * half)
	if math.Abs(left+right-area) < integrateTolerance {
		return left + right
	}
	a, b := pair(
		func() float64 { return integrate(x1, y1, x, y, left) },
		func() float64 { return integrate(x, y, x2, y2, right) })
	return a + b
}

// excerpt end

func newIntegrate(size string) (workload, error) {
	n, about, err := cilkSized(size, integrateSizes)
	end := float64(n)
	run := func() int64 {
		return int64(math.Round(integrate(0, 0, end, cubic(end), 0) / 1000))
	}
	return workload{run: run, expected: about.answer, tasks: about.nodes}, err
}

var knapsackSizes = map[int]cilkSize{
	12: {5_466, 1_519},
	40: {18_595, 925_921},
	58: {26_755, 155_715_259},
}

type knapsackItem struct{ value, weight int32 }

const knapsackNone = math.MinInt32

// knapsackBest is the best value that a goroutine has seen. Goroutines that raise it at the same
// time may lose an update.
var knapsackBest atomic.Int32

// excerpt knapsack
func knapsack(items []knapsackItem, room, value int32) int32 {
	if room < 0 {
		return knapsackNone
	}
	if len(items) == 0 || room == 0 {
		return value
	}
	next := items[0]
	if value+room*next.value/next.weight < knapsackBest.Load() {
		return knapsackNone
	}
	result, with := pair(
		func() int32 { return knapsack(items[1:], room, value) },
		func() int32 { return knapsack(items[1:], room-next.weight, value+next.value) })
	if with > result {
		result = with
	}
	if result > knapsackBest.Load() {
		knapsackBest.Store(result)
	}
	return result
}

// excerpt end

// knapsackItems returns the items, the densest first and of equal ones the lightest, and the room.
func knapsackItems(count int) ([]knapsackItem, int32) {
	state := uint32(1)
	draw := func() int32 {
		state = state*1664525 + 1013904223
		return 100 + int32((state>>16)%900)
	}
	items := make([]knapsackItem, count)
	room := int32(0)
	for i := range items {
		items[i].weight = draw()
		items[i].value = draw()
		room += items[i].weight
	}
	sort.Slice(items, func(i, j int) bool {
		a, b := items[i], items[j]
		left, right := a.value*b.weight, b.value*a.weight
		return left > right || left == right && a.weight < b.weight
	})
	return items, room / 2
}

func newKnapsack(size string) (workload, error) {
	n, about, err := cilkSized(size, knapsackSizes)
	items, room := knapsackItems(n)
	run := func() int64 {
		knapsackBest.Store(knapsackNone)
		return int64(knapsack(items, room, 0))
	}
	return workload{run: run, expected: about.answer, tasks: about.nodes}, err
}
