// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net"
	"net/http"
)

// The server of the family `http`: net/http.

func isHTTP(workload string) bool {
	return workload == "io-http" || workload == "io-http-pipelined"
}

// serveHTTP serves at a free port until the standard input ends.
func serveHTTP(size, threads string) error {
	return listen(size, threads, func(listener net.Listener) {
		// excerpt http
		pages := http.NewServeMux()
		pages.HandleFunc("/hello", func(to http.ResponseWriter, _ *http.Request) {
			to.Header().Set("Content-Type", "text/plain")
			io.WriteString(to, "hello\n")
		})
		go http.Serve(listener, pages)
		// excerpt end
	})
}
