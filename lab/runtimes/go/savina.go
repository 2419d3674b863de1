// SPDX-License-Identifier: Apache-2.0

package main

const creatures = 100

// newSavinaFib: a goroutine for each call, with a channel for its two calls.
func newSavinaFib(size string) (workload, error) {
	n, err := number("size", size, 1, 40)
	a, b := int64(0), int64(1)
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	run := func() int64 {
		result := make(chan int64, 1)
		go savinaFib(int64(n), result)
		return <-result
	}
	return workload{run: run, expected: a, tasks: 2*a - 1}, err
}

// excerpt savina-fib
func savinaFib(n int64, above chan<- int64) {
	if n <= 2 {
		above <- 1
		return
	}
	values := make(chan int64, 2)
	go savinaFib(n-1, values)
	go savinaFib(n-2, values)
	above <- <-values + <-values
}

// excerpt end

// visit is a message from a creature to the mall, or from the mall to another creature. The other
// creature answers with a visit without a sender: the colour that both creatures then have. At the
// end, the mall sends goHome as the colour.
type visit struct {
	colour int
	who    chan visit
}

const goHome = -1

func mall(meetings int64, inbox <-chan visit) {
	var waiting chan visit
	for home := 0; home < creatures; {
		v := <-inbox
		switch {
		case meetings == 0:
			v.who <- visit{goHome, nil}
			home++
		case waiting == nil:
			waiting = v.who
		default:
			waiting <- v
			waiting = nil
			meetings--
		}
	}
}

func creature(colour int, where chan<- visit, counts chan<- int64) {
	inbox := make(chan visit, 1)
	met := int64(0)
	for {
		where <- visit{colour, inbox}
		v := <-inbox
		switch {
		case v.colour == goHome:
			counts <- met
			return
		case v.who == nil:
			colour = v.colour
		default:
			if colour != v.colour {
				colour = 3 - colour - v.colour
			}
			v.who <- visit{colour, nil}
		}
		met++
	}
}

func newSavinaChameneos(size string) (workload, error) {
	n, err := number("size", size, 1, mostOperations)
	run := func() int64 {
		where, counts := make(chan visit, creatures), make(chan int64, creatures)
		go mall(int64(n), where)
		for i := 0; i < creatures; i++ {
			go creature(i%3, where, counts)
		}
		sum := int64(0)
		for i := 0; i < creatures; i++ {
			sum += <-counts
		}
		return sum
	}
	return workload{run: run, expected: 2 * int64(n), tasks: int64(n)}, err
}

// savinaRandom holds the state of the suite's random numbers.
type savinaRandom uint64

func (r *savinaRandom) next() int64 {
	*r = (*r*1309 + 13849) & 0xFFFF
	return int64(*r)
}
