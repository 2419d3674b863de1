// SPDX-License-Identifier: Apache-2.0
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;

/** The form of a fork that the workloads need, and the way to enter it. */
interface Forks {
    /**
     * Returns function(0) + ... + function(count - 1). The children run in parallel, and the last
     * child runs inline.
     */
    long sum(int count, IntToLongFunction function);

    long enter(LongSupplier job);
}
