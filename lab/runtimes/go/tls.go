// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"time"
)

// The server of the family `tls`: crypto/tls, with a certificate that is made at the start.

// ownCertificate is of the kind that the servers in C++ have: ECDSA with P-256.
func ownCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
	}
	made, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}, err
}

func isTLS(workload string) bool {
	return workload == "io-tls-16" || workload == "io-tls-handshake"
}

func serveTLS(size, threads string) error {
	certificate, err := ownCertificate()
	if err != nil {
		return err
	}
	// excerpt tls
	config := tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS13,
	}
	return serve(func(peer net.Conn) { echo(tls.Server(peer, &config)) }, size, threads)
	// excerpt end
}
