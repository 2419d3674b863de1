// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync/atomic"
)

// semaphore is a channel with room for more tokens than there ever are.
type semaphore chan struct{}

func newSemaphore() semaphore { return make(semaphore, 256) }
func (s semaphore) acquire()  { <-s }
func (s semaphore) release()  { s <- struct{}{} }

// shareOf returns the share of number one when n is divided into parts.
func shareOf(n, one, parts int64) int64 {
	if one < n%parts {
		return n/parts + 1
	}
	return n / parts
}

// randomNumbers is xorshift of Marsaglia, with equal numbers in every runtime.
type randomNumbers uint64

func newRandom(seed int64) randomNumbers {
	return randomNumbers(uint64(seed+1) * 0x9E3779B97F4A7C15)
}

func (r *randomNumbers) below(bound uint64) int {
	s := uint64(*r)
	s ^= s << 13
	s ^= s >> 7
	s ^= s << 17
	*r = randomNumbers(s)
	return int((s >> 32) % bound)
}

// cycle: 20 rings of 5 goroutines, each with a token that goes round.
func cycle(n int64) int64 {
	const rings, members = 20, 5
	hops := make([]int64, rings)
	var ended []<-chan struct{}
	for r := int64(0); r < rings; r++ {
		own := make([]semaphore, members)
		for i := range own {
			own[i] = newSemaphore()
		}
		share, count := shareOf(n, r, rings), &hops[r]
		for i := int64(0); i < members; i++ {
			mine, next, rounds := own[i], own[(i+1)%members], shareOf(share, i, members)
			ended = append(ended, start(func() {
				for k := int64(0); k < rounds; k++ {
					mine.acquire()
					*count++
					next.release()
				}
			}))
		}
		own[0].release()
	}
	for _, one := range ended {
		<-one
	}
	sum := int64(0)
	for _, one := range hops {
		sum += one
	}
	return sum
}

// churn: 64 goroutines release a random one of 16 semaphores, then acquire that semaphore;
// lab/workloads/fibers/churn.hpp.
func churn(n int64) int64 {
	const strands, spots = 64, 16
	all := make([]semaphore, spots)
	for i := range all {
		all[i] = newSemaphore()
	}
	counts := make([]int64, strands)
	ended := make([]<-chan struct{}, strands)
	for f := int64(0); f < strands; f++ {
		f, count := f, &counts[f]
		ended[f] = start(func() {
			chance := newRandom(f)
			for k, share := int64(0), shareOf(n, f, strands); k < share; k++ {
				spot := all[chance.below(spots)]
				if k > 0 || f >= spots {
					spot.release()
				}
				spot.acquire()
				*count++
			}
			for _, spot := range all {
				spot.release()
			}
		})
	}
	sum := int64(0)
	for f := range ended {
		<-ended[f]
		sum += counts[f]
	}
	return sum
}

// locality: 64 goroutines and 60 spots; lab/workloads/fibers/locality.hpp.
func locality(n int64, share bool) int64 {
	const strands, spots, words, touches = 64, 60, 512, 64
	type array [words]int64
	type strand struct {
		woken semaphore
		data  *array
	}
	arrays := make([]array, strands)
	all := make([]strand, strands)
	for f := range all {
		all[f] = strand{newSemaphore(), &arrays[f]}
	}
	var seats [spots]atomic.Pointer[strand]
	var left atomic.Int64
	var over atomic.Bool
	left.Store(n)
	body := func(f int64) {
		me, chance := &all[f], newRandom(f)
		for left.Add(-1) >= 0 {
			for i := 0; i < touches; i++ {
				me.data[chance.below(words)]++
			}
			seat := &seats[chance.below(spots)]
			before := seat.Swap(nil)
			if before != nil && share {
				before.data, me.data = me.data, before.data
			}
			sits := seat.CompareAndSwap(nil, me)
			if before != nil {
				before.woken.release()
			}
			if !sits {
				continue
			}
			if over.Load() && seat.CompareAndSwap(me, nil) {
				break
			}
			me.woken.acquire()
		}
		over.Store(true)
		for i := range seats {
			if other := seats[i].Swap(nil); other != nil {
				other.woken.release()
			}
		}
	}
	together(strands, body)
	sum := int64(0)
	for _, one := range arrays {
		for _, word := range one {
			sum += word
		}
	}
	return sum / touches
}

// transfer: 16 goroutines elect leaders, which spin; lab/workloads/fibers/transfer.hpp.
func transfer(n int64) int64 {
	const strands = 16
	var epoch, seen, leader atomic.Int64
	chance, elections := newRandom(0), int64(0) // used by the leader only
	body := func(me int64) {
		for mine := int64(1); mine <= n; {
			switch {
			case epoch.Load() >= mine:
				seen.Add(1)
				mine++
			case leader.Load() == me:
				leader.Store(-1)
				seen.Store(1)
				epoch.Store(mine)
				for seen.Load() < strands {
				}
				elections++
				leader.Store(int64(chance.below(strands)))
				mine++
			default:
				runtime.Gosched()
			}
		}
	}
	together(strands, body)
	return elections
}
