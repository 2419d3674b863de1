// SPDX-License-Identifier: Apache-2.0

package main

// Actors that work for each other, as goroutines with channels. A buffer is a channel with the
// buffer's room. A pool is a channel that holds the lent objects.

const (
	producers       = 5
	consumers       = 5
	bufferSize      = 50
	composite       = 600_213_349
	smallestFactor  = 20_483
	primeWorkers    = 16
	primeBuffers    = 8
	queriesUnderWay = 32
	mixedRings      = 20
	mixedActors     = 100
)

func smallestFactorOf(number int64) int64 {
	for i := int64(2); i*i <= number; i++ {
		if number%i == 0 {
			return i
		}
	}
	return number
}

func producerConsumer(n int64) int64 {
	buffer := make(chan int64, bufferSize)
	for i := int64(0); i < producers; i++ {
		count := n / producers
		if i < n%producers {
			count++
		}
		go func() {
			for ; count > 0; count-- {
				buffer <- count
			}
		}()
	}
	arrived := make(chan int64, mailbox)
	for i := 0; i < consumers; i++ {
		go func() {
			for range buffer {
				arrived <- 1
			}
		}()
	}
	sum := int64(0)
	for sum < n {
		sum += <-arrived
	}
	close(buffer)
	return sum
}

type solved struct {
	by     int
	factor int64
}

func primeWorker(number int, queries <-chan struct{}, pool chan *[64]byte, answers chan<- solved) {
	for range queries {
		buffer := <-pool
		factor := smallestFactorOf(composite)
		pool <- buffer
		answers <- solved{number, factor}
	}
}

func primeFactors(n int64) int64 {
	pool := make(chan *[64]byte, primeBuffers)
	for i := 0; i < primeBuffers; i++ {
		pool <- new([64]byte)
	}
	answers := make(chan solved, queriesUnderWay)
	queries := make([]chan struct{}, primeWorkers)
	for i := range queries {
		queries[i] = make(chan struct{}, queriesUnderWay)
		go primeWorker(i, queries[i], pool, answers)
	}
	left := n
	ask := func(worker int) {
		if left > 0 {
			left--
			queries[worker] <- struct{}{}
		}
	}
	for i := 0; i < queriesUnderWay; i++ {
		ask(i % primeWorkers)
	}
	sum := int64(0)
	for i := int64(0); i < n; i++ {
		one := <-answers
		sum += one.factor
		ask(one.by)
	}
	for _, inbox := range queries {
		close(inbox)
	}
	return sum
}

func mixedNode(
	inbox <-chan int64, next chan<- int64, factorise chan<- struct{}, stopped chan<- struct{},
	hops chan<- int64,
) {
	count := int64(0)
	for left := range inbox {
		if left == 0 {
			stopped <- struct{}{}
			continue
		}
		if factorise != nil && left%mixedActors == 0 {
			factorise <- struct{}{}
		}
		count++
		next <- left - 1
	}
	if factorise != nil {
		close(factorise)
	}
	hops <- count
}

func mixedFactoriser(inbox <-chan struct{}, right chan<- bool) {
	all := true
	for range inbox {
		all = all && smallestFactorOf(composite) == smallestFactor
	}
	right <- all
}

func mixedScenario(n int64) int64 {
	stopped := make(chan struct{}, mixedRings)
	hops := make(chan int64, mailbox)
	right := make(chan bool, mixedRings)
	inboxes := make([]chan int64, mixedRings*mixedActors)
	for i := range inboxes {
		inboxes[i] = make(chan int64, 1)
	}
	for i := range inboxes {
		first := i / mixedActors * mixedActors
		var factorise chan struct{}
		if i == first {
			factorise = make(chan struct{}, mailbox)
			go mixedFactoriser(factorise, right)
		}
		go mixedNode(inboxes[i], inboxes[first+(i+1-first)%mixedActors], factorise, stopped, hops)
	}
	for ring := 0; ring < mixedRings; ring++ {
		inboxes[ring*mixedActors] <- n / mixedRings
	}
	for ring := 0; ring < mixedRings; ring++ {
		<-stopped
	}
	for _, inbox := range inboxes {
		close(inbox)
	}
	sum := int64(0)
	for range inboxes {
		sum += <-hops
	}
	for ring := 0; ring < mixedRings; ring++ {
		if !<-right {
			return -1
		}
	}
	return sum
}
