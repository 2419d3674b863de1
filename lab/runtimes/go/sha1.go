// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/bits"
)

const digestBytes = 20

// sha1 returns the SHA-1 of up to 55 bytes (one block, FIPS 180-4). UTS defines its random numbers
// by SHA-1. Each port of the lab has its own code for it: crypto/sha1 uses the processor's
// instructions, which the other ports do not.
func sha1(message []byte) (digest [digestBytes]byte) {
	var block [64]byte
	length := copy(block[:], message)
	block[length] = 0x80
	binary.BigEndian.PutUint64(block[56:], uint64(length)*8)

	var words [16]uint32 // word i of the schedule is words[i mod 16]
	for i := range words {
		words[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	start := [5]uint32{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0}
	a, b, c, d, e := start[0], start[1], start[2], start[3], start[4]
	for i := 0; i < 80; i++ {
		if i >= 16 {
			mixed := words[(i+13)&15] ^ words[(i+8)&15] ^ words[(i+2)&15] ^ words[i&15]
			words[i&15] = bits.RotateLeft32(mixed, 1)
		}
		var mixed, constant uint32
		switch {
		case i < 20:
			mixed, constant = b&c|^b&d, 0x5A827999
		case i < 40:
			mixed, constant = b^c^d, 0x6ED9EBA1
		case i < 60:
			mixed, constant = b&c|b&d|c&d, 0x8F1BBCDC
		default:
			mixed, constant = b^c^d, 0xCA62C1D6
		}
		sum := bits.RotateLeft32(a, 5) + mixed + e + constant + words[i&15]
		a, b, c, d, e = sum, a, bits.RotateLeft32(b, 30), c, d
	}
	for i, end := range [5]uint32{a, b, c, d, e} {
		binary.BigEndian.PutUint32(digest[4*i:], start[i]+end)
	}
	return digest
}
