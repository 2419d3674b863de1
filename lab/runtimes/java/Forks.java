// SPDX-License-Identifier: Apache-2.0
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;

/** The form of a fork that the workloads need, and how to enter it. */
interface Forks {
    /** function(0) + ... + function(count - 1), children in parallel, the last one inline. */
    long sum(int count, IntToLongFunction function);

    long enter(LongSupplier job);
}
