// SPDX-License-Identifier: Apache-2.0

// The lab's port to Go: a goroutine for each child but the last, and a WaitGroup for each node.
// Fibers and actors are goroutines. `lab-go WORKLOAD SIZE THREADS` runs one workload once to warm
// up and once timed, and prints one line of JSON.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

const mostThreads = 1024

func measure(arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("usage: WORKLOAD SIZE THREADS")
	}
	if handle, known := services[arguments[0]]; known {
		return serve(handle, arguments[1], arguments[2])
	}
	if isTLS(arguments[0]) {
		return serveTLS(arguments[1], arguments[2])
	}
	if isHTTP(arguments[0]) {
		return serveHTTP(arguments[1], arguments[2])
	}
	create, known := workloads[arguments[0]]
	if !known {
		return fmt.Errorf("unknown workload '%s'", arguments[0])
	}
	job, err := create(arguments[1])
	if err != nil {
		return err
	}
	threads, err := number("threads", arguments[2], 1, mostThreads)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(threads)
	if os.Getenv("LAB_NO_WARMUP") == "" {
		job.run()
	}
	cpuBefore, err := cpuSeconds()
	if err != nil {
		return err
	}
	start := time.Now()
	answer := job.run()
	seconds := time.Since(start).Seconds()
	cpu, err := cpuSeconds()
	if err != nil {
		return err
	}
	peak, err := peakRssKib()
	if err != nil {
		return err
	}
	extra := ""
	if job.extra != nil {
		extra = job.extra()
	}
	fmt.Printf(`{"answer": %d, "expected": %d, "seconds": %.9f, "cpu_seconds": %.6f, `+
		`"tasks": %d, "peak_rss_kib": %d%s}`+"\n",
		answer, job.expected, seconds, cpu-cpuBefore, job.tasks, peak, extra)
	if answer != job.expected {
		return fmt.Errorf("wrong answer: %d, not %d", answer, job.expected)
	}
	return nil
}

func main() {
	if err := measure(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
