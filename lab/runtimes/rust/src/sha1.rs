// SPDX-License-Identifier: Apache-2.0
//! SHA-1 of up to 55 bytes (one block), for the random numbers of UTS, which are defined by it (FIPS 180-4).

const START: [u32; 5] = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0];

pub fn sha1(bytes: &[u8]) -> [u8; 20] {
    let mut block = [0; 64];
    block[..bytes.len()].copy_from_slice(bytes);
    block[bytes.len()] = 0x80;
    block[56..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());

    let mut words = [0u32; 80];
    for (word, four) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([four[0], four[1], four[2], four[3]]);
    }
    for i in 16..80 {
        words[i] = (words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1);
    }

    let [mut a, mut b, mut c, mut d, mut e] = START;
    let mut round = |mixed: fn(u32, u32, u32) -> u32, constant: u32, word: u32| {
        let sum = a.rotate_left(5).wrapping_add(mixed(b, c, d)).wrapping_add(e);
        (a, b, c, d, e) = (sum.wrapping_add(constant).wrapping_add(word), a, b.rotate_left(30), c, d);
    };
    words[..20].iter().for_each(|&word| round(|b, c, d| (b & c) | (!b & d), 0x5A827999, word));
    words[20..40].iter().for_each(|&word| round(|b, c, d| b ^ c ^ d, 0x6ED9EBA1, word));
    words[40..60].iter().for_each(|&word| round(|b, c, d| (b & c) | (b & d) | (c & d), 0x8F1BBCDC, word));
    words[60..].iter().for_each(|&word| round(|b, c, d| b ^ c ^ d, 0xCA62C1D6, word));

    let mut digest = [0; 20];
    for ((out, start), end) in digest.chunks_exact_mut(4).zip(START).zip([a, b, c, d, e]) {
        out.copy_from_slice(&start.wrapping_add(end).to_be_bytes());
    }
    digest
}
