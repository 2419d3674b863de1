// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;

/** mpmc and its variants: several producers and as many consumers share one queue. */
final class Traffic {
    private static final int ROOM = 128;
    private static final int DEFAULT_TASKS = 4;
    private static final long END = -1;

    private Traffic() {}

    /** Null when none is called that. */
    static Workload named(String name, String size) {
        return switch (name) {
            case "mpmc" -> summed(size, n -> manyToMany(new ArrayBlockingQueue<>(ROOM), n, half()));
            case "mpmc-unbuffered" ->
                summed(size, n -> manyToMany(new SynchronousQueue<>(), n, half()));
            case "mpmc-4" ->
                summed(size, n -> manyToMany(new ArrayBlockingQueue<>(ROOM), n, DEFAULT_TASKS));
            case "mpmc-4-unbuffered" ->
                summed(size, n -> manyToMany(new SynchronousQueue<>(), n, DEFAULT_TASKS));
            default -> null;
        };
    }

    private static Workload summed(String size, Fibers.Job job) {
        long n = Workload.number("size", size, 1, Fibers.MOST);
        return new Workload(Fibers.of(job, n), n * (n - 1) / 2, n);
    }

    private static int half() {
        return Math.max(1, Integer.getInteger("jdk.virtualThreadScheduler.parallelism") / 2);
    }

    // excerpt mpmc
    private static long manyToMany(BlockingQueue<Long> queue, long n, int eachSide)
            throws InterruptedException {
        Thread[] producers = new Thread[eachSide];
        Thread[] consumers = new Thread[eachSide];
        long[] sums = new long[eachSide];
        long next = 0;
        for (int i = 0; i < eachSide; i++) {
            long first = next;
            long last = first + n / eachSide + (i < n % eachSide ? 1 : 0);
            next = last;
            producers[i] = Fibers.start(() -> {
                for (long number = first; number < last; number++) {
                    queue.put(number);
                }
            });
        }
        for (int i = 0; i < eachSide; i++) {
            int me = i;
            consumers[i] = Fibers.start(() -> {
                long sum = 0;
                for (long got = queue.take(); got != END; got = queue.take()) {
                    sum += got;
                }
                sums[me] = sum;
            });
        }
        for (Thread one : producers) {
            one.join();
        }
        for (int i = 0; i < eachSide; i++) {
            queue.put(END);
        }
        long sum = 0;
        for (int i = 0; i < eachSide; i++) {
            consumers[i].join();
            sum += sums[i];
        }
        return sum;
    }
    // excerpt end
}
