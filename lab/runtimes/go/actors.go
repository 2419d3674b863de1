// SPDX-License-Identifier: Apache-2.0

package main

// The workloads of actors. An actor is a goroutine with a channel. If few messages can be in a
// channel at the same time, the channel has room for all of them, so that no circle of senders
// waits for itself. Otherwise it has room for 128.

const (
	ringActors = 503
	fanSenders = 20
	workTokens = 64
	mailbox    = 128
)

// roundUp returns the least multiple of parts that is not below n.
func roundUp(n, parts int64) int64 { return (n + parts - 1) / parts * parts }

// messages makes a workload of n messages with the given answer. It rounds n up to a multiple of
// parts.
func messages(
	parts int64, answer func(n int64) int64, run func(n int64) int64,
) func(size string) (workload, error) {
	return func(size string) (workload, error) {
		number, err := number("size", size, 1, mostOperations)
		n := roundUp(int64(number), parts)
		return workload{run: func() int64 { return run(n) }, expected: answer(n), tasks: n}, err
	}
}

func asMany(n int64) int64 { return n }

type token struct {
	hops int64
	seed uint64 // 0 means no work
}

// someWork takes about a microsecond.
func someWork(seed uint64) uint64 {
	for i := 0; i < 530; i++ {
		seed = (seed^seed>>33)*6364136223846793005 + 1442695040888963407
	}
	return seed
}

// excerpt thread-ring
func ringNode(number int64, inbox <-chan token, next chan<- token, stopped chan<- int64) {
	for t := range inbox {
		switch {
		case t.hops == 0:
			stopped <- number
		case t.seed == 0:
			next <- token{t.hops - 1, 0}
		default:
			next <- token{t.hops - 1, someWork(t.seed) | 1}
		}
	}
}

// excerpt end

// ring sends tokens around 503 actors, from evenly spread actors. It returns the sum of the numbers
// of the actors that have the tokens last.
func ring(tokens int, first func(i int) token) int64 {
	inboxes := make([]chan token, ringActors)
	for i := range inboxes {
		inboxes[i] = make(chan token, tokens)
	}
	stopped := make(chan int64, tokens)
	for i := range inboxes {
		go ringNode(int64(i+1), inboxes[i], inboxes[(i+1)%ringActors], stopped)
	}
	for i := 0; i < tokens; i++ {
		inboxes[i*ringActors/tokens] <- first(i)
	}
	sum := int64(0)
	for i := 0; i < tokens; i++ {
		sum += <-stopped
	}
	for _, inbox := range inboxes {
		close(inbox)
	}
	return sum
}

func threadRing(n int64) int64 { return ring(1, func(int) token { return token{n, 0} }) }

func lastOfRing(n int64) int64 { return n%ringActors + 1 }

func parallelThreadRing(n int64) int64 {
	expected := int64(ringActors * (ringActors + 1) / 2)
	if ring(ringActors, func(int) token { return token{n / ringActors, 0} }) != expected {
		return -1
	}
	return n
}

func ringWork(n int64) int64 {
	expected := int64(0)
	for i := int64(0); i < workTokens; i++ {
		expected += (i*ringActors/workTokens+n/workTokens)%ringActors + 1
	}
	first := func(i int) token { return token{n / workTokens, uint64(i + 1)} }
	if ring(workTokens, first) != expected {
		return -1
	}
	return n
}

type ball struct {
	left int64
	from chan<- ball
}

// excerpt ping-pong
func player(inbox chan ball, counts chan<- int64) {
	sent := int64(0)
	for b := range inbox {
		if b.left > 0 {
			sent++
			b.from <- ball{b.left - 1, inbox}
		}
		if b.left <= 1 {
			break
		}
	}
	counts <- sent
}

// excerpt end

func pingPong(n int64) int64 {
	a, b, counts := make(chan ball, 1), make(chan ball, 1), make(chan int64, 2)
	go player(a, counts)
	go player(b, counts)
	b <- ball{n, a}
	return <-counts + <-counts
}

func countingActor(n int64) int64 { return sendAndAdd(make(chan int64, mailbox), n) }

func fanIn(n int64) int64 {
	inbox := make(chan int64, mailbox)
	for i := 0; i < fanSenders; i++ {
		go func() {
			for left := n / fanSenders; left > 0; left-- {
				inbox <- left
			}
		}()
	}
	seen := make(chan int64)
	go func() {
		count := int64(0)
		for ; count < n; count++ {
			<-inbox
		}
		seen <- count
	}()
	return <-seen
}

// excerpt spawn-storm
func mayfly(inbox <-chan int64, last int64, done chan<- int64) {
	number := <-inbox
	if number == last {
		done <- number
		return
	}
	next := make(chan int64, 1)
	go mayfly(next, last, done)
	next <- number + 1
}

// excerpt end

func spawnStorm(n int64) int64 {
	first, done := make(chan int64, 1), make(chan int64)
	go mayfly(first, n, done)
	first <- 1
	return <-done
}
