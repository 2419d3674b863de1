// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
)

// The server of the family `http`: net/http.

func isHTTP(workload string) bool {
	return workload == "io-http" || workload == "io-http-pipelined"
}

// serveHTTP serves at a free port until the standard input ends.
func serveHTTP(size, threads string) error {
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
	// excerpt http
	pages := http.NewServeMux()
	pages.HandleFunc("/hello", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/plain")
		io.WriteString(to, "hello\n")
	})
	go http.Serve(listener, pages)
	// excerpt end
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
