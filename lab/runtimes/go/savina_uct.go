// SPDX-License-Identifier: Apache-2.0

package main

// savina-uct, as workloads/actors/savina_trees.hpp describes it. A node is a goroutine.

const uctMostChildren = 10

type uctNode struct {
	seed uint64
	size int64
}

func (at uctNode) work() int64 {
	rounds := 400 + at.seed>>33%201
	numbers, sum := savinaRandom(rounds), int64(0)
	for ; rounds > 0; rounds-- {
		sum += numbers.next()
	}
	return sum
}

func (at uctNode) children() []uctNode {
	rest := at.size - 1
	count := rest
	if count > uctMostChildren {
		count = uctMostChildren
	}
	all := make([]uctNode, count)
	for i := range all {
		seed := at.seed + uint64(i) + 1
		seed = (seed^seed>>33)*6364136223846793005 + 1442695040888963407
		size := 1 + int64(seed>>33%uint64(rest-count+int64(i)+1))
		if i+1 == len(all) {
			size = rest
		}
		all[i] = uctNode{seed, size}
		rest -= size
	}
	return all
}

func (at uctNode) serial() int64 {
	sum := at.work()
	for _, child := range at.children() {
		sum += child.serial()
	}
	return sum
}

// excerpt savina-uct

// run tells the node above when the subtree is created, waits for begin, and then tells the node
// above the sum of the subtree.
func (at uctNode) run(begin <-chan struct{}, above chan<- int64) {
	children := at.children()
	beginChildren, results := make(chan struct{}), make(chan int64, len(children))
	for _, child := range children {
		go child.run(beginChildren, results)
	}
	for range children {
		<-results
	}
	above <- 0
	<-begin
	sum := at.work()
	close(beginChildren)
	for range children {
		sum += <-results
	}
	above <- sum
}

// excerpt end

func newUct(size string) (workload, error) {
	n, err := number("size", size, 1, 10_000_000)
	if err != nil {
		return workload{}, err
	}
	root := uctNode{1, int64(n)}
	run := func() int64 {
		begin, result := make(chan struct{}), make(chan int64, 1)
		go root.run(begin, result)
		<-result
		close(begin)
		return <-result
	}
	return workload{run: run, expected: root.serial(), tasks: int64(n)}, nil
}
