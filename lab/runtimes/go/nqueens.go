// SPDX-License-Identifier: Apache-2.0

package main

const mostQueens = 16

var queensAnswers = [mostQueens + 1]int64{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200,
	73712, 365596, 2279184, 14772512}

// queensNodes holds the number of partial boards on which no queen attacks another queen, the empty
// board included.
var queensNodes = [mostQueens + 1]int64{1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926,
	856189, 4674890, 27358553, 171129072, 1141190303}

type board [mostQueens]int8

func (b *board) legal(column int, row int8) bool {
	for x, other := range b[:column] {
		distance := int8(column - x)
		if row == other || row == other-distance || row == other+distance {
			return false
		}
	}
	return true
}

// excerpt nqueens

// queens counts the ways to fill the remaining columns of the board, with one task for each legal
// move. The board is passed by value.
func queens(n, column int, b board) int64 {
	if column == n {
		return 1
	}
	var moves board
	count := 0
	for row := int8(0); row < int8(n); row++ {
		if b.legal(column, row) {
			moves[count] = row
			count++
		}
	}
	return sum(count, func(i int) int64 {
		next := b
		next[column] = moves[i]
		return queens(n, column+1, next)
	})
}

// excerpt end

func newQueens(size string) (workload, error) {
	n, err := number("size", size, 1, mostQueens)
	run := func() int64 { return queens(n, 0, board{}) }
	return workload{run: run, expected: queensAnswers[n], tasks: queensNodes[n]}, err
}
