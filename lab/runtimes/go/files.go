// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"os"
	"sync"
	"sync/atomic"
)

// The workloads of lab/workloads/files: goroutines read blocks of a file that is in memory.

const (
	blockSize = 4096
	blocks    = 1024
)

// blockFile makes a file of blocks that begin and end with their number plus one.
func blockFile() (*os.File, error) {
	file, err := os.CreateTemp("", "lab-io-files-")
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name()) // The file lives until it is closed.
	for i := uint64(0); i < blocks; i++ {
		var block [blockSize]byte
		binary.LittleEndian.PutUint64(block[:], i+1)
		binary.LittleEndian.PutUint64(block[blockSize-8:], i+1)
		if _, err := file.Write(block[:]); err != nil {
			return nil, err
		}
	}
	return file, nil
}

// excerpt files

// readBlocks returns the number of right blocks that goroutine `number` has read.
func readBlocks(file *os.File, number, reads int64) int64 {
	block := make([]byte, blockSize)
	right := int64(0)
	for i := int64(0); i < reads; i++ {
		at := (number*61 + i*7) % blocks
		n, _ := file.ReadAt(block, at*blockSize)
		begin := binary.LittleEndian.Uint64(block)
		end := binary.LittleEndian.Uint64(block[blockSize-8:])
		if n == blockSize && begin == uint64(at+1) && end == uint64(at+1) {
			right++
		}
	}
	return right
}

func fileReads(fibers int64) func(size string) (workload, error) {
	return func(size string) (workload, error) {
		n, err := number("size", size, 1, mostOperations)
		if err != nil {
			return workload{}, err
		}
		file, err := blockFile()
		if err != nil {
			return workload{}, err
		}
		run := func() int64 {
			var all sync.WaitGroup
			var right atomic.Int64
			for i := int64(0); i < fibers; i++ {
				all.Add(1)
				go func(i int64) {
					defer all.Done()
					right.Add(readBlocks(file, i, shareOf(int64(n), i, fibers)))
				}(i)
			}
			all.Wait()
			return right.Load()
		}
		return workload{run: run, expected: int64(n), tasks: int64(n)}, nil
	}
}

// excerpt end
