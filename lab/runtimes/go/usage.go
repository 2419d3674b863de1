// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// cpuSeconds returns the user and system time of this process so far.
func cpuSeconds() (float64, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9, err
}

// peakRssKib returns the peak of the memory of this process. (Getrusage's field starts at the
// memory of the parent process.)
func peakRssKib() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	var kib int64
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(after, &kib)
	return kib, err
}
