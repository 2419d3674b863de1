// SPDX-License-Identifier: Apache-2.0
//! SHA-1 of up to 55 bytes (one block). UTS defines its random numbers by SHA-1 (FIPS 180-4).

const START: [u32; 5] = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0];

pub fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut block = [0; 64];
    block[..bytes.len()].copy_from_slice(bytes);
    block[bytes.len()] = 0x80;
    block[56..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());

    // Word i of the schedule is words[i mod 16].
    let mut words = [0u32; 16];
    for (word, four) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([four[0], four[1], four[2], four[3]]);
    }
    let [mut a, mut b, mut c, mut d, mut e] = START;
    for i in 0..80 {
        if i >= 16 {
            let mixed =
                words[(i + 13) % 16] ^ words[(i + 8) % 16] ^ words[(i + 2) % 16] ^ words[i % 16];
            words[i % 16] = mixed.rotate_left(1);
        }
        let (mixed, constant) = match i / 20 {
            0 => ((b & c) | (!b & d), 0x5A827999),
            1 => (b ^ c ^ d, 0x6ED9EBA1),
            2 => ((b & c) | (b & d) | (c & d), 0x8F1BBCDC),
            _ => (b ^ c ^ d, 0xCA62C1D6u32),
        };
        let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant);
        (a, b, c, d, e) = (sum.wrapping_add(words[i % 16]), a, b.rotate_left(30), c, d);
    }

    let mut digest = [0; 20];
    for ((out, start), end) in digest.chunks_exact_mut(4).zip(START).zip([a, b, c, d, e]) {
        out.copy_from_slice(&start.wrapping_add(end).to_be_bytes());
    }
    digest
}
