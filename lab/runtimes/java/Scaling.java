// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.ReentrantLock;

/** The workloads that show the use of a second carrier thread, with virtual threads. */
final class Scaling {
    private static final int PAIRS = 64;
    private static final int POOL = 8;
    private static final int ROOM = 128;
    private static final long END = -1;

    private Scaling() {}

    /** Null when none is called that. */
    static Workload named(String name, String size) {
        return switch (name) {
            case "skynet-rendezvous" -> skynet(size);
            // A parent of skynet-channel receives and joins nothing.
            case "skynet-receive" -> Fibers.named("skynet-channel", size);
            case "pairs" -> counted(size, Scaling::pairs);
            case "mutex-each" -> counted(size, n -> each(n, Scaling::locked));
            case "channel-each" -> counted(size, n -> each(n, Scaling::queued));
            case "fiber-create-block" -> summed(size, Scaling::createdAndBlocked);
            case "pool-0" -> summed(size, n -> pool(n, 0));
            case "pool-200ns" -> summed(size, n -> pool(n, 100));
            case "pool-1us" -> summed(size, n -> pool(n, 500));
            case "pool-5us" -> summed(size, n -> pool(n, 2500));
            default -> null;
        };
    }

    private static Workload counted(String size, Fibers.Job job) {
        long n = Workload.number("size", size, 1, Fibers.MOST);
        return new Workload(Fibers.of(job, n), n, n);
    }

    private static Workload summed(String size, Fibers.Job job) {
        long n = Workload.number("size", size, 1, Fibers.MOST);
        return new Workload(Fibers.of(job, n), n * (n - 1) / 2, n);
    }

    private static Workload skynet(String size) {
        Workload alike = Fibers.named("skynet-channel", size); // checks the size
        Fibers.Job job = n -> {
            BlockingQueue<Long> result = new SynchronousQueue<>();
            Fibers.start(() -> node(result, 0, n));
            return result.take();
        };
        return new Workload(Fibers.of(job, Long.parseLong(size)), alike.expected(), alike.tasks());
    }

    private static void node(BlockingQueue<Long> above, long first, long leaves)
        throws InterruptedException {
        if (leaves == 1) {
            above.put(first);
            return;
        }
        BlockingQueue<Long> below = new SynchronousQueue<>();
        long part = leaves / 10;
        for (int i = 0; i < 10; i++) {
            long number = first + i * part;
            Fibers.start(() -> node(below, number, part));
        }
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += below.take();
        }
        above.put(sum);
    }

    private static long share(long n, long parts, long part) {
        return n / parts + (part < n % parts ? 1 : 0);
    }

    /** 64 pairs of threads that exchange numbers, each pair over two queues of its own. */
    private static long pairs(long n) throws InterruptedException {
        long[] right = new long[PAIRS];
        Thread[] all = new Thread[2 * PAIRS];
        for (int p = 0; p < PAIRS; p++) {
            int me = p;
            long share = share(n, PAIRS, p);
            BlockingQueue<Long> there = new SynchronousQueue<>();
            BlockingQueue<Long> back = new SynchronousQueue<>();
            all[2 * p] = Fibers.start(() -> {
                long count = 0;
                for (long i = 0; i < share; i++) {
                    there.put(i);
                    count += back.take() == i + 1 ? 1 : 0;
                }
                right[me] = count;
            });
            all[2 * p + 1] = Fibers.start(() -> {
                for (long i = 0; i < share; i++) {
                    back.put(there.take() + 1);
                }
            });
        }
        long sum = 0;
        for (Thread one : all) {
            one.join();
        }
        for (long one : right) {
            sum += one;
        }
        return sum;
    }

    /**
     * One thread for each carrier, with its share of n operations. The answer is the number of
     * operations with the right effect.
     */
    private static long each(long n, Fibers.Job body) throws InterruptedException {
        int carriers = Integer.getInteger("jdk.virtualThreadScheduler.parallelism");
        long[] right = new long[carriers];
        Thread[] all = new Thread[carriers];
        for (int i = 0; i < carriers; i++) {
            int me = i;
            all[i] = Fibers.start(() -> right[me] = body.run(share(n, carriers, me)));
        }
        long sum = 0;
        for (int i = 0; i < carriers; i++) {
            all[i].join();
            sum += right[i];
        }
        return sum;
    }

    private static long locked(long share) {
        ReentrantLock own = new ReentrantLock();
        long count = 0;
        long right = 0;
        for (long i = 0; i < share; i++) {
            own.lock();
            try {
                right += count++ == i ? 1 : 0;
            } finally {
                own.unlock();
            }
        }
        return right;
    }

    private static long queued(long share) throws InterruptedException {
        BlockingQueue<Long> own = new ArrayBlockingQueue<>(ROOM);
        long right = 0;
        for (long i = 0; i < share; i++) {
            own.put(i);
            right += own.take() == i ? 1 : 0;
        }
        return right;
    }

    /** Threads that each block once, made and joined one after the other. */
    private static long createdAndBlocked(long n) throws InterruptedException {
        BlockingQueue<Long> numbers = new SynchronousQueue<>();
        long[] sum = new long[1];
        for (long i = 0; i < n; i++) {
            Thread one = Fibers.start(() -> sum[0] += numbers.take());
            Thread.yield(); // it begins, and blocks
            numbers.put(i);
            one.join();
        }
        return sum[0];
    }

    /**
     * 2 ns a step at 3 GHz: six instructions, each of which waits for the one before it. The state
     * never becomes 0 unless it begins as 0.
     */
    static long xorshift(long state, long steps) {
        for (long i = 0; i < steps; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
        }
        return state;
    }

    private static long work(long job, int steps) {
        return xorshift(job + 1, steps) == 0 ? job + 1 : job;
    }

    /** Eight threads that take jobs from a queue and put results into another. */
    private static long pool(long n, int steps) throws InterruptedException {
        BlockingQueue<Long> jobs = new ArrayBlockingQueue<>(ROOM);
        BlockingQueue<Long> results = new ArrayBlockingQueue<>(ROOM);
        for (int i = 0; i < POOL; i++) {
            Fibers.start(() -> {
                for (long job = jobs.take(); job != END; job = jobs.take()) {
                    results.put(work(job, steps));
                }
            });
        }
        Fibers.start(() -> {
            for (long job = 0; job < n; job++) {
                jobs.put(job);
            }
            for (int i = 0; i < POOL; i++) {
                jobs.put(END);
            }
        });
        long sum = 0;
        for (long i = 0; i < n; i++) {
            sum += results.take();
        }
        return sum;
    }
}
