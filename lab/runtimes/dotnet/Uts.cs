// SPDX-License-Identifier: Apache-2.0
using System;
using System.Buffers.Binary;
using System.Threading.Tasks;

// The unbalanced tree search (Olivier et al., LCPC 2006). The shape of a tree follows from its
// random numbers alone. A node is its state. The state of a child follows from the state of its
// parent and from the number of the child.
sealed class Uts : Call {
    const int MostChildren = 100;

    // The parameters of a tree: whether it is geometric or binomial, the number of children of the
    // root (geometric: the mean number of children of every node), the number of levels
    // (geometric), the probability that a node has children and the number of them (binomial), and
    // the seed.
    sealed class Tree {
        public bool Geometric;
        public double B0, Q;
        public int Depth, M, Seed;
        public long Nodes;

        public static Tree Named(string name) {
            switch (name) {
                case "T1":
                    return new Tree {
                        Geometric = true, B0 = 4, Depth = 10, Seed = 19, Nodes = 4130071};
                case "T3":
                    return new Tree {B0 = 2000, Q = 0.124875, M = 8, Seed = 42, Nodes = 4112897};
                case "T1L":
                    return new Tree {
                        Geometric = true, B0 = 4, Depth = 13, Seed = 29, Nodes = 102181082};
                case "T3L":
                    return new Tree {B0 = 2000, Q = 0.200014, M = 5, Seed = 7, Nodes = 111345631};
                case "TT":
                    return new Tree {Geometric = true, B0 = 4, Depth = 5, Seed = 19, Nodes = 3987};
                default:
                    throw new ArgumentException(
                        "size must be T1, T3, T1L, T3L or TT, not '" + name + "'");
            }
        }

        public int Children(byte[] state, int height) {
            int drawn = BinaryPrimitives.ReadInt32BigEndian(state.AsSpan(16)) & 0x7fffffff;
            double random = drawn / 2147483648.0;
            if (!Geometric) return height == 0 ? (int)B0 : random < Q ? M : 0;
            if (height >= Depth) return 0;
            double p = 1 / (1 + B0);
            return Math.Min((int)Math.Floor(Math.Log(1 - random) / Math.Log(1 - p)), MostChildren);
        }
    }

    readonly Tree tree;
    readonly byte[] above;
    readonly int number, height;

    Uts(Tree tree, byte[] above, int number, int height) {
        this.tree = tree;
        this.above = above;
        this.number = number;
        this.height = height;
    }

    public override ValueTask<long> Run() {
        Span<byte> message = stackalloc byte[24];
        above.CopyTo(message);
        BinaryPrimitives.WriteInt32BigEndian(message.Slice(20), number);
        return Search(tree, Sha1.Of(message), height);
    }

    static ValueTask<long> Search(Tree tree, byte[] state, int height) {
        int count = tree.Children(state, height);
        if (count == 0) return new ValueTask<long>(1);
        var children = count == 1 ? Array.Empty<Call>() : new Call[count - 1];
        for (int i = 0; i < count - 1; i++)
            children[i] = new Uts(tree, state, i, height + 1).Fork();
        ValueTask<long> below = Forks.Sum(
            children, new Uts(tree, state, count - 1, height + 1).Run());
        return below.IsCompletedSuccessfully ? new ValueTask<long>(below.Result + 1) : Later(below);
    }

    static async ValueTask<long> Later(ValueTask<long> below) => await below + 1;

    public static Workload Of(string size) {
        Tree tree = Tree.Named(size);
        byte[] root = new byte[20];
        BinaryPrimitives.WriteInt32BigEndian(root.AsSpan(16), tree.Seed);
        return new Workload(() => Search(tree, Sha1.Of(root), 0).AsTask(), tree.Nodes, tree.Nodes);
    }
}

// SHA-1 of up to 55 bytes (one block, FIPS 180-4). UTS defines its random numbers by SHA-1. Each
// port of the lab has its own code for it: the library's code uses the processor's instructions,
// which the other ports do not.
static class Sha1 {
    static uint Rotate(uint x, int by) => x << by | x >> (32 - by);

    public static byte[] Of(ReadOnlySpan<byte> message) {
        Span<byte> block = stackalloc byte[64];
        block.Clear();
        message.CopyTo(block);
        block[message.Length] = 0x80;
        BinaryPrimitives.WriteInt64BigEndian(block.Slice(56), message.Length * 8L);

        Span<uint> words = stackalloc uint[16]; // word i of the schedule is words[i mod 16]
        for (int i = 0; i < 16; i++)
            words[i] = BinaryPrimitives.ReadUInt32BigEndian(block.Slice(4 * i));
        uint a = 0x67452301, b = 0xEFCDAB89, c = 0x98BADCFE, d = 0x10325476, e = 0xC3D2E1F0;
        for (int i = 0; i < 80; i++) {
            if (i >= 16) {
                uint three = words[(i + 13) & 15] ^ words[(i + 8) & 15] ^ words[(i + 2) & 15];
                words[i & 15] = Rotate(three ^ words[i & 15], 1);
            }
            uint mixed;
            if (i < 20) mixed = ((b & c) | (~b & d)) + 0x5A827999;
            else if (i < 40) mixed = (b ^ c ^ d) + 0x6ED9EBA1;
            else if (i < 60) mixed = ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC;
            else mixed = (b ^ c ^ d) + 0xCA62C1D6;
            uint sum = Rotate(a, 5) + mixed + e + words[i & 15];
            e = d;
            d = c;
            c = Rotate(b, 30);
            b = a;
            a = sum;
        }
        byte[] digest = new byte[20];
        BinaryPrimitives.WriteUInt32BigEndian(digest, 0x67452301 + a);
        BinaryPrimitives.WriteUInt32BigEndian(digest.AsSpan(4), 0xEFCDAB89 + b);
        BinaryPrimitives.WriteUInt32BigEndian(digest.AsSpan(8), 0x98BADCFE + c);
        BinaryPrimitives.WriteUInt32BigEndian(digest.AsSpan(12), 0x10325476 + d);
        BinaryPrimitives.WriteUInt32BigEndian(digest.AsSpan(16), 0xC3D2E1F0 + e);
        return digest;
    }
}
