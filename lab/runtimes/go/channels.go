// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// summed makes a workload whose answer is the sum of the numbers 0 to n - 1, which travel as
// messages.
func summed(run func(n int64) int64) func(size string) (workload, error) {
	return func(size string) (workload, error) {
		n, err := number("size", size, 1, mostOperations)
		count := int64(n)
		work := func() int64 { return run(count) }
		return workload{run: work, expected: count * (count - 1) / 2, tasks: count}, err
	}
}

// excerpt channel
func sendAndAdd(numbers chan int64, n int64) int64 {
	sum := int64(0)
	producer := produce(numbers, 0, n)
	consumer := start(func() {
		soFar := int64(0)
		for i := int64(0); i < n; i++ {
			soFar += <-numbers
		}
		sum = soFar
	})
	<-producer
	<-consumer
	return sum
}

func produce(to chan<- int64, first, end int64) <-chan struct{} {
	return start(func() {
		for i := first; i < end; i++ {
			to <- i
		}
	})
}

// excerpt end

func channelRendezvous(n int64) int64 { return sendAndAdd(make(chan int64), n) }

func channelBuffered(n int64) int64 { return sendAndAdd(make(chan int64, 128), n) }

// excerpt select-two

// selectTwo: two producers, each with a channel, and a consumer that takes from the channel that is
// ready.
func selectTwo(n int64) int64 {
	low, high := make(chan int64), make(chan int64)
	a, b := produce(low, 0, n/2), produce(high, n/2, n)
	sum := int64(0)
	consumer := start(func() {
		soFar := int64(0)
		for i := int64(0); i < n; i++ {
			select {
			case value := <-low:
				soFar += value
			case value := <-high:
				soFar += value
			}
		}
		sum = soFar
	})
	<-a
	<-b
	<-consumer
	return sum
}

// excerpt end

// excerpt skynet-channel

// skynetNode is a goroutine of the tree. Each inner node has a channel for its ten children.
func skynetNode(above chan<- int64, first, leaves int64) {
	if leaves == 1 {
		above <- first
		return
	}
	below := make(chan int64, 10)
	part := leaves / 10
	for i := int64(0); i < 10; i++ {
		go skynetNode(below, first+i*part, part)
	}
	sum := int64(0)
	for i := 0; i < 10; i++ {
		sum += <-below
	}
	above <- sum
}

// excerpt end

func newSkynetChannel(size string) (workload, error) {
	number, err := number("size", size, 1, 100000000)
	leaves := int64(number)
	power := int64(1)
	for power < leaves {
		power *= 10
	}
	if err == nil && power != leaves {
		err = fmt.Errorf("size must be a power of ten, not '%s'", size)
	}
	run := func() int64 {
		result := make(chan int64, 1)
		go skynetNode(result, 0, leaves)
		return <-result
	}
	return workload{run: run, expected: leaves * (leaves - 1) / 2, tasks: (10*leaves - 1) / 9}, err
}
