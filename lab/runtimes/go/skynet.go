// SPDX-License-Identifier: Apache-2.0

package main

// excerpt skynet

// skynet is a tree with ten children for each inner node. Leaves return their number, and inner
// nodes the sum of their children.
func skynet(first, leaves int64) int64 {
	if leaves == 1 {
		return first
	}
	part := leaves / 10
	return sum(10, func(i int) int64 { return skynet(first+int64(i)*part, part) })
}

// excerpt end

func newSkynet(size string) (workload, error) {
	depth, err := number("size", size, 0, 9)
	leaves := int64(1)
	for i := 0; i < depth; i++ {
		leaves *= 10
	}
	run := func() int64 { return skynet(0, leaves) }
	return workload{run: run, expected: leaves * (leaves - 1) / 2, tasks: (leaves*10 - 1) / 9}, err
}
