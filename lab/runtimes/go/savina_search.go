// SPDX-License-Identifier: Apache-2.0

package main

import "sync/atomic"

// savina-astar, as workloads/actors/savina_search.hpp describes it. A worker is a goroutine. The
// mailbox of the master has no bound, since the workers and the master send to each other.

const (
	searchWorkers   = 20
	searchThreshold = 1024
	searchRounds    = 100
)

func searchGrid(n int) [][]int32 {
	numbers, edges := savinaRandom(n), make([][]int32, n*n*n)
	for node := range edges {
		at := [3]int{node / (n * n), node / n % n, node % n}
		for corner := 1; corner <= 6; corner++ {
			drawn := numbers.next()>>8&1 != 0
			if !drawn && !(corner == 6 && len(edges[node]) == 0) {
				continue
			}
			other := 0
			for axis := range at {
				next := at[axis] + corner>>(2-axis)&1
				if next >= n {
					next = n - 1
				}
				other = other*n + next
			}
			found := other == node
			for _, one := range edges[node] {
				found = found || int(one) == other
			}
			if !found {
				edges[node] = append(edges[node], int32(other))
			}
		}
	}
	return edges
}

type search struct {
	edges [][]int32
	from  []atomic.Int32 // the predecessor plus one; 0 for a node that was not reached
}

// excerpt savina-astar
// visit returns the nodes that are left.
func (s *search) visit(first int32) []int32 {
	queue, at, drawn := []int32{first}, 0, int64(0)
	for ; at < len(queue) && at < searchThreshold; at++ {
		numbers := savinaRandom(searchRounds)
		for i := 0; i < searchRounds; i++ {
			drawn += numbers.next()
		}
		for _, node := range s.edges[queue[at]] {
			if s.from[node].CompareAndSwap(0, queue[at]+1) {
				queue = append(queue, node)
			}
		}
	}
	if drawn == 0 { // uses the numbers
		return nil
	}
	return queue[at:]
}

// A node that is left, or -1 for the end of a visit.
func (s *search) worker(nodes <-chan int32, master *mailboxOf[int32]) {
	for first := range nodes {
		for _, node := range s.visit(first) {
			master.send(node)
		}
		master.send(-1)
	}
}

func (s *search) master() {
	master, workers := newMailbox[int32](), make([]chan int32, searchWorkers)
	for i := range workers {
		// A worker never waits for the master, so a full channel empties again.
		workers[i] = make(chan int32, mailbox)
		go s.worker(workers[i], master)
	}
	master.send(0)
	for given, done := 0, 0; given == 0 || done < given; {
		if node := master.receive(); node < 0 {
			done++
		} else {
			workers[given%searchWorkers] <- node
			given++
		}
	}
	for _, worker := range workers {
		close(worker)
	}
}

// excerpt end

func (s *search) reached() int64 {
	count := int64(1)
	for node := range s.from {
		by := s.from[node].Load() - 1
		if node == 0 || by < 0 {
			continue
		}
		for _, one := range s.edges[by] {
			if int(one) == node {
				count++
			}
		}
	}
	return count
}

func newAstar(size string) (workload, error) {
	n, err := number("size", size, 2, 100)
	if err != nil {
		return workload{}, err
	}
	run := func() int64 {
		s := &search{edges: searchGrid(n), from: make([]atomic.Int32, n*n*n)}
		s.from[0].Store(1)
		s.master()
		return s.reached()
	}
	edges, found, left := searchGrid(n), make([]bool, n*n*n), []int32{0}
	found[0] = true
	count := int64(0)
	for ; len(left) > 0; count++ {
		last := left[len(left)-1]
		left = left[:len(left)-1]
		for _, node := range edges[last] {
			if !found[node] {
				found[node] = true
				left = append(left, node)
			}
		}
	}
	return workload{run: run, expected: count, tasks: count}, nil
}
