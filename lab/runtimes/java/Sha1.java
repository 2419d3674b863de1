// SPDX-License-Identifier: Apache-2.0
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * SHA-1 of up to 55 bytes (one block, FIPS 180-4). UTS defines its random numbers by SHA-1. Each
 * port of the lab has its own code for it: MessageDigest uses the processor's instructions, which
 * the other ports do not.
 */
final class Sha1 {
    private static final int[] START = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};

    private Sha1() {}

    static byte[] of(byte[] message) {
        ByteBuffer block = ByteBuffer.wrap(Arrays.copyOf(message, 64));
        block.put(message.length, (byte) 0x80).putLong(56, message.length * 8L);

        int[] words = new int[16]; // word i of the schedule is words[i mod 16]
        for (int i = 0; i < 16; i++) {
            words[i] = block.getInt(4 * i);
        }
        int a = START[0];
        int b = START[1];
        int c = START[2];
        int d = START[3];
        int e = START[4];
        for (int i = 0; i < 80; i++) {
            if (i >= 16) {
                int mixed = words[(i + 13) & 15] ^ words[(i + 8) & 15] ^ words[(i + 2) & 15]
                    ^ words[i & 15];
                words[i & 15] = Integer.rotateLeft(mixed, 1);
            }
            int mixed;
            if (i < 20) {
                mixed = ((b & c) | (~b & d)) + 0x5A827999;
            } else if (i < 40) {
                mixed = (b ^ c ^ d) + 0x6ED9EBA1;
            } else if (i < 60) {
                mixed = ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC;
            } else {
                mixed = (b ^ c ^ d) + 0xCA62C1D6;
            }
            int sum = Integer.rotateLeft(a, 5) + mixed + e + words[i & 15];
            e = d;
            d = c;
            c = Integer.rotateLeft(b, 30);
            b = a;
            a = sum;
        }
        return ByteBuffer.allocate(20).putInt(START[0] + a).putInt(START[1] + b)
            .putInt(START[2] + c).putInt(START[3] + d).putInt(START[4] + e).array();
    }
}
