// SPDX-License-Identifier: Apache-2.0

package main

// savina-filterbank, as workloads/actors/savina_filters.hpp describes it. A stage is a goroutine,
// whose channel has room for 128 numbers.

const (
	bankChannels = 8
	bankColumns  = 1024
)

// bankDelay passes on the numbers of 1,023 steps before.
func bankDelay(from <-chan int64, to chan<- int64) {
	kept, at := make([]int64, bankColumns-1), 0
	for value := range from {
		kept[at], value = value, kept[at]
		at = (at + 1) % len(kept)
		to <- value
	}
	close(to)
}

func bankCoefficients(channel int64, second bool) []int64 {
	all := make([]int64, bankColumns)
	for i := range all {
		number := int64(i)
		more := number
		if second {
			more = channel * channel
		}
		all[bankColumns-1-i] = (number*channel+more+number+channel)%16 + 1
	}
	return all
}

// excerpt savina-filterbank
func bankFilter(coefficients []int64, from <-chan int64, to chan<- int64) {
	kept, at, full := make([]int64, bankColumns), 0, false
	for value := range from {
		kept[at] = value
		at = (at + 1) % len(kept)
		full = full || at == 0
		if !full {
			continue
		}
		sum := int64(0)
		for i, one := range kept {
			sum += one * coefficients[i]
		}
		to <- sum
	}
	close(to)
}

// excerpt end

func bankSampler(from <-chan int64, to chan<- int64) {
	at := 0
	for value := range from {
		if at != 0 {
			value = 0
		}
		at = (at + 1) % bankColumns
		to <- value
	}
	close(to)
}

// The integrator takes one output of each channel in turn.
func bankIntegrator(from []chan int64, to chan<- int64) {
	defer close(to)
	for {
		sum := int64(0)
		for _, channel := range from {
			value, more := <-channel
			if !more {
				return
			}
			sum += value
		}
		to <- sum
	}
}

func filterBank(n int64) int64 {
	newChannel := func() chan int64 { return make(chan int64, mailbox) }
	banks, outputs := make([]chan int64, bankChannels), make([]chan int64, bankChannels)
	for c := range banks {
		all := make([]chan int64, 6)
		for i := range all {
			all[i] = newChannel()
		}
		banks[c], outputs[c] = all[0], all[5]
		go bankDelay(all[0], all[1])
		go bankFilter(bankCoefficients(int64(c), false), all[1], all[2])
		go bankSampler(all[2], all[3])
		go bankDelay(all[3], all[4])
		go bankFilter(bankCoefficients(int64(c), true), all[4], all[5])
	}
	sums := newChannel()
	go bankIntegrator(outputs, sums)
	go func() {
		for k := int64(0); k < n; k++ {
			for _, bank := range banks {
				bank <- k % 1000
			}
		}
		for _, bank := range banks {
			close(bank)
		}
	}()
	answer, k := int64(0), int64(0)
	for sum := range sums {
		answer += sum * (k%7 + 1)
		k++
	}
	return answer
}

// filterBankSerial computes a product from the one before it.
func filterBankSerial(n int64) int64 {
	answer := int64(0)
	for channel := int64(0); channel < bankChannels; channel++ {
		first, second := bankCoefficients(channel, false), bankCoefficients(channel, true)
		inputs, samples := make([]int64, bankColumns), make([]int64, bankColumns)
		inner, outer := int64(0), int64(0)
		sampled := make([]int64, 0, n)
		for k := int64(0); k < n; k++ {
			value := int64(0)
			if k >= bankColumns-1 {
				value = (k - bankColumns + 1) % 1000
			}
			at := k % bankColumns
			inner += (value - inputs[at]) * first[at]
			inputs[at] = value
			m := k - bankColumns + 1
			if m < 0 {
				continue
			}
			if m%bankColumns == 0 {
				sampled = append(sampled, inner)
			} else {
				sampled = append(sampled, 0)
			}
			value = 0
			if m >= bankColumns-1 {
				value = sampled[m-bankColumns+1]
			}
			at = m % bankColumns
			outer += (value - samples[at]) * second[at]
			samples[at] = value
			if output := m - bankColumns + 1; output >= 0 {
				answer += outer * (output%7 + 1)
			}
		}
	}
	return answer
}

func newFilterBank(size string) (workload, error) {
	number, err := number("size", size, 2*bankColumns, 1_000_000)
	if err != nil {
		return workload{}, err
	}
	n := int64(number)
	run := func() int64 { return filterBank(n) }
	return workload{run: run, expected: filterBankSerial(n), tasks: n}, nil
}
