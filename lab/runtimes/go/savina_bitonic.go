// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// savina-bitonicsort, as workloads/actors/savina_bitonic.hpp describes it. A stage is a goroutine,
// whose channel has room for 128 numbers.

const bitonicSeed = 2048

// excerpt savina-bitonicsort
func bitonicStage(block, distance int64, from <-chan int64, to chan<- int64) {
	kept := make([]int64, distance)
	taken := int64(0)
	for value := range from {
		at, ascending := taken%(2*distance), taken&block == 0
		taken++
		slot := &kept[at%distance]
		if at < distance {
			*slot = value
			continue
		}
		if (*slot > value) == ascending {
			*slot, value = value, *slot
		}
		to <- *slot
		*slot = value
		if at+1 == 2*distance {
			for _, one := range kept {
				to <- one
			}
		}
	}
	close(to)
}

// excerpt end

func bitonicSort(n int64) int64 {
	first := make(chan int64, mailbox)
	last := first
	for block := int64(2); block <= n; block *= 2 {
		for distance := block / 2; distance > 0; distance /= 2 {
			next := make(chan int64, mailbox)
			go bitonicStage(block, distance, last, next)
			last = next
		}
	}
	go func() {
		numbers := savinaRandom(bitonicSeed)
		for i := int64(0); i < n; i++ {
			first <- numbers.next()
		}
		close(first)
	}()
	sum, before := int64(0), int64(0)
	for value := range last {
		if value < before {
			return -1
		}
		before = value
		sum += value
	}
	return sum
}

func newBitonicSort(size string) (workload, error) {
	number, err := number("size", size, 2, 65_536)
	if err != nil {
		return workload{}, err
	}
	n, stages, sum := int64(number), int64(0), int64(0)
	if n&(n-1) != 0 {
		return workload{}, fmt.Errorf("size must be a power of two, not '%s'", size)
	}
	for block, depth := int64(2), int64(1); block <= n; block, depth = 2*block, depth+1 {
		stages += depth
	}
	numbers := savinaRandom(bitonicSeed)
	for i := int64(0); i < n; i++ {
		sum += numbers.next()
	}
	run := func() int64 { return bitonicSort(n) }
	return workload{run: run, expected: sum, tasks: stages * n}, nil
}
