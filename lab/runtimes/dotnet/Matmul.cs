// SPDX-License-Identifier: Apache-2.0
using System;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

// The product of two matrices of ones, by quarters, down to 32 by 32.
sealed class Matmul : Call {
    const int Leaf = 32;

    readonly int[] a, b, c;
    readonly int a0, b0, c0, n, stride;

    Matmul(int[] a, int a0, int[] b, int b0, int[] c, int c0, int n, int stride) {
        this.a = a;
        this.a0 = a0;
        this.b = b;
        this.b0 = b0;
        this.c = c;
        this.c0 = c0;
        this.n = n;
        this.stride = stride;
    }

    // Multiplies rows in vectors of the processor's width, which the compiler does not do by
    // itself.
    void MultiplyLeaf() {
        for (int i = 0; i < n; i++) {
            Span<int> sums = c.AsSpan(c0 + i * stride, n);
            Span<Vector<int>> wide = MemoryMarshal.Cast<int, Vector<int>>(sums);
            for (int k = 0; k < n; k++) {
                int x = a[a0 + i * stride + k];
                ReadOnlySpan<int> row = b.AsSpan(b0 + k * stride, n);
                ReadOnlySpan<Vector<int>> wideRow = MemoryMarshal.Cast<int, Vector<int>>(row);
                var all = new Vector<int>(x);
                for (int j = 0; j < wide.Length; j++) wide[j] += all * wideRow[j];
                // The remaining elements, if n is small.
                for (int j = wide.Length * Vector<int>.Count; j < n; j++) sums[j] += x * row[j];
            }
        }
    }

    // Quarter i of the result, for one half of its sum.
    Matmul Quarter(int half, int i) {
        int k = n / 2, down = k * stride;
        int lower = i / 2 * down, right = i % 2 * k;
        return new Matmul(a, a0 + half * k + lower, b, b0 + half * down + right,
            c, c0 + lower + right, k, stride);
    }

    ValueTask<long> Half(int half) {
        var children = new Call[3];
        for (int i = 0; i < 3; i++) children[i] = Quarter(half, i).Fork();
        return Forks.Sum(children, Quarter(half, 3).Run());
    }

    public override ValueTask<long> Run() {
        if (n <= Leaf) {
            MultiplyLeaf();
            return new ValueTask<long>(0);
        }
        ValueTask<long> first = Half(0);
        if (!first.IsCompletedSuccessfully) return Rest(first);
        first.GetAwaiter().GetResult();
        return Half(1);
    }

    async ValueTask<long> Rest(ValueTask<long> first) {
        await first;
        return await Half(1);
    }

    // Returns the value of every element, or 0 if the elements differ.
    static async Task<long> Product(int n) {
        int[] a = new int[n * n], b = new int[n * n], c = new int[n * n];
        Array.Fill(a, 1);
        Array.Fill(b, 1);
        await new Matmul(a, 0, b, 0, c, 0, n, n).Run();
        foreach (int x in c)
            if (x != n) return 0;
        return n;
    }

    public static Workload Of(string size) {
        int n = (int)Workload.Number("size", size, 1, 1 << 14);
        if ((n & (n - 1)) != 0)
            throw new ArgumentException("size must be a power of two, not '" + size + "'");
        long level = 1, tasks = 1;
        for (int k = n; k > Leaf; k /= 2) {
            level *= 8;
            tasks += level;
        }
        return new Workload(() => Product(n), n, tasks);
    }
}
