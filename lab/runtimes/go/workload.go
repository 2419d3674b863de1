// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
)

// workload is one problem of one size.
type workload struct {
	run      func() int64
	expected int64
	tasks    int64 // number of nodes of the tree of calls, or of operations of fibers
	extra    func() string
}

var workloads = map[string]func(size string) (workload, error){
	"fib":     newFib,
	"skynet":  newSkynet,
	"nqueens": newQueens,
	"matmul":  newMatmul,
	"uts":     newUts,

	"integrate": newIntegrate,
	"knapsack":  newKnapsack,

	"skynet-channel":     newSkynetChannel,
	"fiber-yield":        counted(fiberYield),
	"fiber-create":       counted(fiberCreate),
	"channel-rendezvous": summed(channelRendezvous),
	"channel-buffered":   summed(channelBuffered),
	"mutex-free":         counted(mutexFree),
	"mutex-contended":    counted(mutexContended),
	"condition":          counted(condition),
	"fibers-blocked":     counted(fibersBlocked),
	"sleepers":           counted(sleepers),
	"select-two":         summed(selectTwo),
	"timer-lateness":     newTimerLateness,
	"timers-cancelled":   counted(timersCancelled),
	"task-switch":        counted(fiberYield),
	"task-spawn":         counted(fiberCreate),
	"tasks-blocked":      counted(fibersBlocked),
	"cycle":              counted(cycle),
	"churn":              counted(churn),
	"locality":           counted(func(n int64) int64 { return locality(n, false) }),
	"locality-share":     counted(func(n int64) int64 { return locality(n, true) }),
	"transfer":           counted(transfer),

	"io-files-1":  fileReads(1),
	"io-files-16": fileReads(16),

	"skynet-rendezvous":  newSkynetRendezvous,
	"skynet-receive":     newSkynetChannel, // It receives, and waits for nothing else.
	"pairs":              counted(pairs),
	"mutex-each":         counted(mutexEach),
	"channel-each":       counted(channelEach),
	"fiber-create-block": summed(fiberCreateBlock),
	"pool-0":             pooled(0),
	"pool-200ns":         pooled(100),
	"pool-1us":           pooled(500),
	"pool-5us":           pooled(2500),

	"mpmc":              mpmc(128, 0),
	"mpmc-unbuffered":   mpmc(0, 0),
	"mpmc-4":            mpmc(128, 4),
	"mpmc-4-unbuffered": mpmc(0, 4),
	"metg-trivial":      newMetg("trivial"),
	"metg-stencil":      newMetg("stencil"),
	"metg-fft":          newMetg("fft"),
	"metg-random":       newMetg("random"),
	"beside-spawn":      besideLongOnes("spawn", besideSpawn),
	"beside-reply":      besideLongOnes("reply", besideReply),

	"thread-ring":          messages(1, lastOfRing, threadRing),
	"parallel-thread-ring": messages(ringActors, asMany, parallelThreadRing),
	"ping-pong":            counted(pingPong),
	"counting-actor":       summed(countingActor),
	"skynet-actor":         newSkynetChannel,
	"fan-in":               messages(fanSenders, asMany, fanIn),
	"spawn-storm":          counted(spawnStorm),
	"ring-work":            messages(workTokens, asMany, ringWork),
	"producer-consumer":    counted(producerConsumer),
	"prime-factors": messages(
		1, func(n int64) int64 { return n * smallestFactor }, primeFactors),
	"mixed-scenario": messages(mixedRings, asMany, mixedScenario),

	"savina-fib":         newSavinaFib,
	"savina-chameneos":   newSavinaChameneos,
	"savina-sor":         newSor,
	"savina-uct":         newUct,
	"savina-bitonicsort": newBitonicSort,
	"savina-piprecision": newPiPrecision,
	"savina-filterbank":  newFilterBank,
	"savina-astar":       newAstar,
	"savina-facloc":      counted(facilities),
}

func number(what, text string, low, high int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < low || value > high {
		return 0, fmt.Errorf("%s must be a number from %d to %d, not '%s'", what, low, high, text)
	}
	return value, nil
}
