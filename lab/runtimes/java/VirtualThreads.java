// SPDX-License-Identifier: Apache-2.0
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;

/** A virtual thread for each child but the last. */
final class VirtualThreads implements Forks {
    @Override
    public long sum(int count, IntToLongFunction function) {
        if (count == 0) {
            return 0;
        }
        long[] results = new long[count];
        Thread[] children = new Thread[count - 1];
        for (int i = 0; i < count - 1; i++) {
            int index = i;
            children[i] = Thread.ofVirtual().start(
                () -> results[index] = function.applyAsLong(index));
        }
        long result = function.applyAsLong(count - 1);
        for (int i = 0; i < count - 1; i++) {
            join(children[i]);
            result += results[i];
        }
        return result;
    }

    @Override
    public long enter(LongSupplier job) {
        long[] result = new long[1];
        join(Thread.ofVirtual().start(() -> result[0] = job.getAsLong()));
        return result[0];
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }
}
