// SPDX-License-Identifier: Apache-2.0

package main

import "math"

// savina-sor, as workloads/actors/savina_grids.hpp describes it. A cell is a goroutine.

const (
	sorRounds = 100
	sorOmega  = 1.25
)

// sorSides are the row and the column of a neighbour, relative to the cell. Sides 0 and 1 are
// opposite, and so are 2 and 3.
var sorSides = [4][2]int{{0, -1}, {0, 1}, {-1, 0}, {1, 0}}

func sorNext(own float64, around *[4]float64) float64 {
	sum := around[0] + around[1] + around[2] + around[3]
	return sorOmega/4*sum + (1-sorOmega)*own
}

func sorRounded(value float64) int64 { return int64(math.Floor(value + 0.5)) }

func sorNumbers(n int) []float64 {
	from := savinaRandom(n)
	numbers := make([]float64, n*n)
	for i := range numbers {
		numbers[i] = float64(from.next())
	}
	return numbers
}

func sorExpected(n int) int64 {
	values, sum := sorNumbers(n), int64(0)
	for step := 0; step < 2*sorRounds; step++ {
		for i := range values {
			if (i/n+i%n+step)%2 == 0 {
				continue
			}
			around := [4]float64{}
			for side, by := range sorSides {
				if row, column := i/n+by[0], i%n+by[1]; sorInside(n, row, column) {
					around[side] = values[row*n+column]
				}
			}
			values[i] = sorNext(values[i], &around)
			sum += sorRounded(values[i])
		}
	}
	return sum
}

func sorInside(n, row, column int) bool {
	return row >= 0 && row < n && column >= 0 && column < n
}

type sideValue struct {
	side  int
	value float64
}

// excerpt savina-sor
func sorCell(n, at int, value float64, all []chan sideValue, results chan<- int64) {
	row, column := at/n, at%n
	red := (row+column)%2 == 0
	neighbours, around, sum := 0, [4]float64{}, int64(0)
	for _, by := range sorSides {
		if sorInside(n, row+by[0], column+by[1]) {
			neighbours++
		}
	}
	tell := func() {
		for side, by := range sorSides {
			if i, j := row+by[0], column+by[1]; sorInside(n, i, j) {
				all[i*n+j] <- sideValue{side ^ 1, value}
			}
		}
	}
	for round := 0; round < sorRounds; round++ {
		if red {
			tell()
		}
		for i := 0; i < neighbours; i++ {
			m := <-all[at]
			around[m.side] = m.value
		}
		value = sorNext(value, &around)
		sum += sorRounded(value)
		if !red {
			tell()
		}
	}
	results <- sum
}

// excerpt end

func sor(n int) int64 {
	all, values, results := make([]chan sideValue, n*n), sorNumbers(n), make(chan int64, n*n)
	for i := range all {
		all[i] = make(chan sideValue, 4)
	}
	for i, value := range values {
		go sorCell(n, i, value, all, results)
	}
	sum := int64(0)
	for range all {
		sum += <-results
	}
	return sum
}

func newSor(size string) (workload, error) {
	n, err := number("size", size, 2, 500)
	if err != nil {
		return workload{}, err
	}
	run := func() int64 { return sor(n) }
	return workload{run: run, expected: sorExpected(n), tasks: int64(sorRounds * n * n)}, nil
}
