// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;

/** ForkJoinPool: RecursiveTasks, joined in the reverse order of their forks. */
final class ForkJoin implements Forks {
    private final ForkJoinPool pool;

    ForkJoin(int threads) {
        pool = new ForkJoinPool(threads);
    }

    private static final class Child extends RecursiveTask<Long> {
        private final IntToLongFunction function;
        private final int index;

        Child(IntToLongFunction function, int index) {
            this.function = function;
            this.index = index;
        }

        @Override
        protected Long compute() {
            return function.applyAsLong(index);
        }
    }

    @Override
    public long sum(int count, IntToLongFunction function) {
        if (count == 0) {
            return 0;
        }
        Child[] children = new Child[count - 1];
        for (int i = 0; i < count - 1; i++) {
            children[i] = new Child(function, i);
            children[i].fork();
        }
        long result = function.applyAsLong(count - 1);
        for (int i = count - 2; i >= 0; i--) {
            result += children[i].join();
        }
        return result;
    }

    @Override
    public long enter(LongSupplier job) {
        return pool.submit(job::getAsLong).join();
    }
}
