// SPDX-License-Identifier: Apache-2.0

package main

// savina-piprecision, as workloads/actors/savina_pi.hpp describes it.

const (
	poolWorkers = 20
	piModulus   = 1_000_000_007
)

// piFraction returns the number of words of the fraction.
func piFraction(decimals int) int { return decimals*10/96 + 4 }

func piTerm(fraction, k int) []uint32 {
	divisors := [4]uint64{
		uint64(8*k + 1), uint64(8*k + 4), uint64(8*k + 5), uint64(8*k + 6)}
	shift := 32*fraction - 4*k
	bits := [4]int{shift + 2, shift + 1, shift, shift}
	rests := [4]uint64{}
	result := make([]uint32, bits[0]/32+1)
	differences := make([]int64, len(result))
	for i := len(result) - 1; i >= 0; i-- {
		for part := range divisors {
			value := rests[part] << 32
			if bits[part]/32 == i {
				value |= 1 << (bits[part] % 32)
			}
			quotient := int64(value / divisors[part])
			rests[part] = value % divisors[part]
			if part == 0 {
				differences[i] += quotient
			} else {
				differences[i] -= quotient
			}
		}
	}
	carry := int64(0)
	for i := range result {
		carry += differences[i]
		result[i] = uint32(carry)
		carry >>= 32
	}
	return result
}

func addWords(sum, more []uint32) {
	carry := uint64(0)
	for i := 0; i < len(sum) && (i < len(more) || carry != 0); i++ {
		carry += uint64(sum[i])
		if i < len(more) {
			carry += uint64(more[i])
		}
		sum[i] = uint32(carry)
		carry >>= 32
	}
}

func piAnswer(decimals int, sum []uint32) int64 {
	fraction := len(sum) - 1
	result := uint64(sum[fraction])
	for left := decimals; left > 0; left -= 9 {
		power, carry := uint64(1), uint64(0)
		for i := 0; i < left && i < 9; i++ {
			power *= 10
		}
		for i := 0; i < fraction; i++ {
			carry += uint64(sum[i]) * power
			sum[i] = uint32(carry)
			carry >>= 32
		}
		result = (result*power + carry) % piModulus
	}
	return int64(result)
}

type piResult struct {
	worker int
	value  []uint32
}

// excerpt savina-piprecision
func piWorker(number, fraction int, terms <-chan int, results chan<- piResult) {
	for k := range terms {
		results <- piResult{number, piTerm(fraction, k)}
	}
}

func piMaster(decimals, terms int) int64 {
	fraction := piFraction(decimals)
	results, sum := make(chan piResult, poolWorkers), make([]uint32, fraction+1)
	workers := [poolWorkers]chan int{}
	next := 0
	give := func(worker int) {
		if next < terms {
			workers[worker] <- next
			next++
		}
	}
	for i := range workers {
		workers[i] = make(chan int, 1)
		go piWorker(i, fraction, workers[i], results)
		give(i)
	}
	for i := 0; i < terms; i++ {
		r := <-results
		addWords(sum, r.value)
		give(r.worker)
	}
	for _, worker := range workers {
		close(worker)
	}
	return piAnswer(decimals, sum)
}

// excerpt end

func newPiPrecision(size string) (workload, error) {
	n, err := number("size", size, 1, 50_000)
	fraction := piFraction(n)
	terms := 8 * (fraction - 2)
	sum := make([]uint32, fraction+1)
	for k := 0; k < terms && err == nil; k++ {
		addWords(sum, piTerm(fraction, k))
	}
	run := func() int64 { return piMaster(n, terms) }
	return workload{run: run, expected: piAnswer(n, sum), tasks: int64(terms)}, err
}
