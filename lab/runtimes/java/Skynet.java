// SPDX-License-Identifier: Apache-2.0

/** A tree with ten children for each inner node. Inner nodes add the numbers of their leaves. */
record Skynet(Forks forks) {
    long skynet(long first, long count) {
        if (count == 1) {
            return first;
        }
        long part = count / 10;
        return forks.sum(10, i -> skynet(first + i * part, part));
    }

    static Workload of(String size, Forks forks) {
        int levels = Workload.number("size", size, 0, 9);
        long leaves = 1;
        for (int i = 0; i < levels; i++) {
            leaves *= 10;
        }
        long all = leaves;
        Skynet skynet = new Skynet(forks);
        return new Workload(() -> skynet.skynet(0, all), all * (all - 1) / 2, (all * 10 - 1) / 9);
    }
}
