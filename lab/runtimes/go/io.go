// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"time"
)

// The servers of lab/workloads/io: a goroutine for each connection. message.hpp there describes
// the requests.

const (
	messageSize = 64
	leaves      = 256
	readLimit   = 10 * time.Second
)

// services gives the handler of a connection, which serves it until the client ends it.
var services = map[string]func(net.Conn){
	"io-echo-1":    echo,
	"io-echo-16":   echo,
	"io-echo-256":  echo,
	"io-echo-1024": echo,
	"io-limit-16":  limitedEcho,
	"io-limit-256": limitedEcho,
	"io-mixed":     answering(xorshift),
	// The scheduler preempts a goroutine after 10 ms, so Go's programs compute where they are.
	"io-mixed-aside": answering(xorshift),
	"io-accept":      answering(xorshift),
	"io-idle":        answering(xorshift),
	"io-fork-1":      answering(forkedSum),
	"io-fork-16":     answering(forkedSum),
}

func echo(peer net.Conn) {
	var buffer [4096]byte
	for {
		n, err := peer.Read(buffer[:])
		if err != nil {
			return
		}
		if _, err := peer.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// excerpt limit

// limitedEcho sets a deadline before each read.
func limitedEcho(peer net.Conn) {
	var buffer [4096]byte
	for {
		if peer.SetReadDeadline(time.Now().Add(readLimit)) != nil {
			return
		}
		n, err := peer.Read(buffer[:])
		if err != nil {
			return
		}
		if _, err := peer.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// excerpt end

// excerpt answer

// answering gives a handler that replaces word 1 of each request by its result.
func answering(result func(state, steps uint64) uint64) func(net.Conn) {
	return func(peer net.Conn) {
		var request [messageSize]byte
		for {
			if _, err := io.ReadFull(peer, request[:]); err != nil {
				return
			}
			steps := binary.LittleEndian.Uint64(request[0:])
			state := binary.LittleEndian.Uint64(request[8:])
			binary.LittleEndian.PutUint64(request[8:], result(state, steps))
			if _, err := peer.Write(request[:]); err != nil {
				return
			}
		}
	}
}

// excerpt end

// forkedSum: each leaf but the last runs in a goroutine of its own.
func forkedSum(state, steps uint64) uint64 {
	return uint64(sum(leaves, func(i int) int64 {
		return int64(xorshift(state+uint64(i), steps))
	}))
}

// listen calls accept with a listener at a free port, and returns when the standard input ends.
func listen(size, threads string, accept func(net.Listener)) error {
	if _, err := number("size", size, 1, mostOperations); err != nil {
		return err
	}
	count, err := number("threads", threads, 1, mostThreads)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(count)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	accept(listener)
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// serve serves at a free port until the standard input ends.
func serve(handle func(net.Conn), size, threads string) error {
	return listen(size, threads, func(listener net.Listener) {
		// excerpt accept
		go func() {
			for {
				peer, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer peer.Close()
					handle(peer)
				}()
			}
		}()
		// excerpt end
	})
}
