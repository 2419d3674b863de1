// SPDX-License-Identifier: Apache-2.0

pub type Digest = [u8; 20];

/// SHA-1 of up to 55 bytes (one block), for the random numbers of UTS, which are defined by it (FIPS 180-4).
pub fn sha1(bytes: &[u8]) -> Digest {
    let mut block = [0u8; 64];
    block[..bytes.len()].copy_from_slice(bytes);
    block[bytes.len()] = 0x80;
    block[56..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let mut w = [0u32; 80];
    for i in 0..16 {
        w[i] = u32::from_be_bytes(block[4 * i..4 * i + 4].try_into().unwrap());
    }
    for i in 16..80 {
        w[i] = (w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]).rotate_left(1);
    }
    let start = [0x67452301u32, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0];
    let [mut a, mut b, mut c, mut d, mut e] = start;
    for (i, &word) in w.iter().enumerate() {
        let (f, k) = match i / 20 {
            0 => ((b & c) | (!b & d), 0x5A827999u32),
            1 => (b ^ c ^ d, 0x6ED9EBA1),
            2 => ((b & c) | (b & d) | (c & d), 0x8F1BBCDC),
            _ => (b ^ c ^ d, 0xCA62C1D6),
        };
        let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k).wrapping_add(word);
        e = d;
        d = c;
        c = b.rotate_left(30);
        b = a;
        a = next;
    }
    let mut out = [0u8; 20];
    for (i, value) in [a, b, c, d, e].into_iter().enumerate() {
        out[4 * i..4 * i + 4].copy_from_slice(&start[i].wrapping_add(value).to_be_bytes());
    }
    out
}
