// SPDX-License-Identifier: Apache-2.0

// Go: a goroutine for each child but the last, a WaitGroup for each node.
package main

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

func sum(count int, f func(int) int64) int64 {
	if count == 0 {
		return 0
	}
	results := make([]int64, count)
	var group sync.WaitGroup
	group.Add(count - 1)
	for i := 0; i < count-1; i++ {
		i := i
		go func() {
			results[i] = f(i)
			group.Done()
		}()
	}
	results[count-1] = f(count - 1)
	group.Wait()
	total := int64(0)
	for _, one := range results {
		total += one
	}
	return total
}

func all(functions ...func()) {
	var group sync.WaitGroup
	last := len(functions) - 1
	group.Add(last)
	for _, f := range functions[:last] {
		f := f
		go func() {
			f()
			group.Done()
		}()
	}
	functions[last]()
	group.Wait()
}

func fib(n int) int64 {
	if n < 2 {
		return int64(n)
	}
	var a int64
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		a = fib(n - 1)
		group.Done()
	}()
	b := fib(n - 2)
	group.Wait()
	return a + b
}

func skynet(first, count int64) int64 {
	if count == 1 {
		return first
	}
	part := count / 10
	return sum(10, func(i int) int64 { return skynet(first+int64(i)*part, part) })
}

type board [16]int8

func queens(n, column int, b board) int64 {
	if column == n {
		return 1
	}
	var moves [16]int8
	count := 0
	for row := int8(0); row < int8(n); row++ {
		legal := true
		for x := 0; x < column && legal; x++ {
			d := int8(column - x)
			legal = row != b[x] && row != b[x]-d && row != b[x]+d
		}
		if legal {
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

func multiplyLeaf(a, b, c []int32, n, stride int) {
	for i := 0; i < n; i++ {
		row := c[i*stride : i*stride+n]
		for k := 0; k < n; k++ {
			x := a[i*stride+k]
			other := b[k*stride : k*stride+n]
			for j := range row {
				row[j] += x * other[j]
			}
		}
	}
}

func multiply(a, b, c []int32, n, stride int) {
	if n <= 32 {
		multiplyLeaf(a, b, c, n, stride)
		return
	}
	k := n / 2
	down := k * stride
	four := func(left, upper int) {
		all(func() { multiply(a[left:], b[upper:], c, k, stride) },
			func() { multiply(a[left:], b[upper+k:], c[k:], k, stride) },
			func() { multiply(a[left+down:], b[upper:], c[down:], k, stride) },
			func() { multiply(a[left+down:], b[upper+k:], c[down+k:], k, stride) })
	}
	four(0, 0)
	four(k, down)
}

func matmul(n int) int64 {
	a, b, c := make([]int32, n*n), make([]int32, n*n), make([]int32, n*n)
	for i := range a {
		a[i], b[i] = 1, 1
	}
	multiply(a, b, c, n, n)
	for _, x := range c {
		if x != int32(n) {
			return 0
		}
	}
	return int64(n)
}

type tree struct {
	geometric bool
	b0        float64
	depth     int
	q         float64
	m         int
	seed      uint32
	nodes     int64
}

var trees = map[string]tree{
	"T1": {true, 4, 10, 0, 0, 19, 4130071},
	"T3": {false, 2000, 0, 0.124875, 8, 42, 4112897},
	"TT": {true, 4, 5, 0, 0, 19, 3987},
}

func uts(t *tree, state [20]byte, height int) int64 {
	random := float64(binary.BigEndian.Uint32(state[16:])&0x7fffffff) / 2147483648
	children := 0
	switch {
	case t.geometric && height < t.depth:
		p := 1 / (1 + t.b0)
		children = int(math.Floor(math.Log(1-random) / math.Log(1-p)))
		if children > 100 {
			children = 100
		}
	case !t.geometric && height == 0:
		children = int(t.b0)
	case !t.geometric && random < t.q:
		children = t.m
	}
	return 1 + sum(children, func(i int) int64 {
		var bytes [24]byte
		copy(bytes[:], state[:])
		binary.BigEndian.PutUint32(bytes[20:], uint32(i))
		return uts(t, sha1.Sum(bytes[:]), height+1)
	})
}

func field(file, key string, index int) float64 {
	text, _ := os.ReadFile(file)
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, key) || key == "" {
			if key == "" {
				line = line[strings.LastIndex(line, ")")+1:]
			}
			words := strings.Fields(line)
			if index < len(words) {
				value, _ := strconv.ParseFloat(words[index], 64)
				return value
			}
		}
	}
	return -1
}

func cpuSeconds() float64 {
	return (field("/proc/self/stat", "", 11) + field("/proc/self/stat", "", 12)) / 100
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}

func main() {
	if len(os.Args) != 4 {
		fail("usage: WORKLOAD SIZE THREADS")
	}
	size, _ := strconv.Atoi(os.Args[2])
	threads, err := strconv.Atoi(os.Args[3])
	if err != nil || threads < 1 {
		fail("bad number of threads")
	}
	runtime.GOMAXPROCS(threads)
	var run func() int64
	tasks := int64(0)
	switch os.Args[1] {
	case "fib":
		a, b := int64(0), int64(1)
		for i := 0; i <= size; i++ {
			a, b = b, a+b
		}
		tasks = 2*a - 1
		run = func() int64 { return fib(size) }
	case "skynet":
		leaves := int64(math.Pow10(size))
		tasks = (leaves*10 - 1) / 9
		run = func() int64 { return skynet(0, leaves) }
	case "nqueens":
		nodes := []int64{1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189, 4674890, 27358553, 171129072, 1141190303}
		tasks = nodes[size]
		run = func() int64 { return queens(size, 0, board{}) }
	case "matmul":
		level := int64(1)
		tasks = 1
		for k := size; k > 32; k /= 2 {
			level *= 8
			tasks += level
		}
		run = func() int64 { return matmul(size) }
	case "uts":
		t, known := trees[os.Args[2]]
		if !known {
			fail("unknown tree")
		}
		tasks = t.nodes
		run = func() int64 {
			var root [20]byte
			binary.BigEndian.PutUint32(root[16:], t.seed)
			return uts(&t, sha1.Sum(root[:]), 0)
		}
	default:
		fail("unknown workload")
	}
	if os.Getenv("LAB_NO_WARMUP") == "" {
		run()
	}
	cpu := cpuSeconds()
	start := time.Now()
	answer := run()
	seconds := time.Since(start).Seconds()
	fmt.Printf("{\"answer\": %d, \"seconds\": %.9f, \"cpu_seconds\": %.6f, \"tasks\": %d, \"peak_rss_kib\": %.0f}\n",
		answer, seconds, cpuSeconds()-cpu, tasks, field("/proc/self/status", "VmHWM:", 1))
}
