// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"math"
)

const mostChildren = 100

// tree is a tree of UTS (Olivier et al., LCPC 2006). Its shape follows from its random numbers
// alone.
type tree struct {
	geometric bool
	b0        float64 // number of children of the root (geometric: mean number of a node's children)
	depth     int     // geometric: number of levels
	q         float64 // binomial: probability that a node has children
	m         int     // binomial: number of children of a node that has any
	seed      uint32
	nodes     int64
}

var trees = map[string]tree{
	"T1":  {true, 4, 10, 0, 0, 19, 4130071},
	"T3":  {false, 2000, 0, 0.124875, 8, 42, 4112897},
	"T1L": {true, 4, 13, 0, 0, 29, 102181082},
	"T3L": {false, 2000, 0, 0.200014, 5, 7, 111345631},
	"TT":  {true, 4, 5, 0, 0, 19, 3987},
}

// state is the state of a node's random numbers.
type state [digestBytes]byte

func (s *state) child(number int) state {
	var bytes [len(s) + 4]byte
	copy(bytes[:], s[:])
	binary.BigEndian.PutUint32(bytes[len(s):], uint32(number))
	return sha1(bytes[:])
}

// random returns a number in [0, 1).
func (s *state) random() float64 {
	return float64(binary.BigEndian.Uint32(s[16:])&0x7fffffff) / 2147483648
}

func (t *tree) children(s *state, height int) int {
	switch {
	case t.geometric && height < t.depth:
		p := 1 / (1 + t.b0)
		count := int(math.Floor(math.Log(1-s.random()) / math.Log(1-p)))
		if count > mostChildren {
			return mostChildren
		}
		return count
	case t.geometric:
		return 0
	case height == 0:
		return int(t.b0)
	case s.random() < t.q:
		return t.m
	}
	return 0
}

// excerpt uts

// search counts a node and the nodes below it.
func (t *tree) search(s state, height int) int64 {
	return 1 + sum(t.children(&s, height), func(i int) int64 { return t.search(s.child(i), height+1) })
}

// excerpt end

func newUts(size string) (workload, error) {
	t, known := trees[size]
	if !known {
		return workload{}, fmt.Errorf("size must be T1, T3, T1L, T3L or TT, not '%s'", size)
	}
	run := func() int64 {
		var root state
		binary.BigEndian.PutUint32(root[16:], t.seed)
		return t.search(sha1(root[:]), 0)
	}
	return workload{run: run, expected: t.nodes, tasks: t.nodes}, nil
}
