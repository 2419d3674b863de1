// SPDX-License-Identifier: Apache-2.0

/** The Fibonacci numbers, by definition. */
record Fib(Forks forks) {
    long fib(int n) {
        return n < 2 ? n : forks.sum(2, i -> fib(n - 1 - i));
    }

    static Workload of(String size, Forks forks) {
        int n = Workload.number("size", size, 0, 80);
        long a = 0;
        long b = 1;
        for (int i = 0; i < n; i++) {
            long next = a + b;
            a = b;
            b = next;
        }
        Fib fib = new Fib(forks);
        return new Workload(() -> fib.fib(n), a, 2 * b - 1);
    }
}
