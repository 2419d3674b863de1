// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;

/** The product of two matrices of ones, by quarters, down to 32 by 32. */
record Matmul(Forks forks) {
    private static final int LEAF = 32;

    private static void multiplyLeaf(
            int[] a, int a0, int[] b, int b0, int[] c, int c0, int n, int stride) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < n; k++) {
                int x = a[a0 + i * stride + k];
                for (int j = 0; j < n; j++) {
                    c[c0 + i * stride + j] += x * b[b0 + k * stride + j];
                }
            }
        }
    }

    private void multiply(int[] a, int a0, int[] b, int b0, int[] c, int c0, int n, int stride) {
        if (n <= LEAF) {
            multiplyLeaf(a, a0, b, b0, c, c0, n, stride);
            return;
        }
        int k = n / 2;
        int down = k * stride;
        for (int half = 0; half < 2; half++) {
            int left = half * k;
            int upper = half * down;
            forks.sum(4, i -> {
                int lower = (i / 2) * down;
                int right = (i % 2) * k;
                multiply(
                    a, a0 + left + lower, b, b0 + upper + right, c, c0 + lower + right, k, stride);
                return 0;
            });
        }
    }

    /** Returns the value of every element, or 0 if the elements differ. */
    long matmul(int n) {
        int[] a = new int[n * n];
        int[] b = new int[n * n];
        int[] c = new int[n * n];
        Arrays.fill(a, 1);
        Arrays.fill(b, 1);
        multiply(a, 0, b, 0, c, 0, n, n);
        for (int x : c) {
            if (x != n) {
                return 0;
            }
        }
        return n;
    }

    static Workload of(String size, Forks forks) {
        int n = Workload.number("size", size, 1, 1 << 14);
        if (Integer.bitCount(n) != 1) {
            throw new IllegalArgumentException("size must be a power of two, not '" + size + "'");
        }
        long level = 1;
        long tasks = 1;
        for (int k = n; k > LEAF; k /= 2) {
            level *= 8;
            tasks += level;
        }
        Matmul matmul = new Matmul(forks);
        return new Workload(() -> matmul.matmul(n), n, tasks);
    }
}
