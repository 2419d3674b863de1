// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/** The workloads of fibers, with virtual threads. Java has no select. */
final class Fibers {
    static final int MOST = 999_999_999;

    private Fibers() {}

    /** A body that may be interrupted, although no program here interrupts one. */
    interface Body {
        void run() throws InterruptedException;
    }

    interface Job {
        long run(long n) throws InterruptedException;
    }

    private static void patiently(Body body) {
        try {
            body.run();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    static Thread start(Body body) {
        return Thread.ofVirtual().start(() -> patiently(body));
    }

    /** Makes `count` queues with the given room. */
    @SuppressWarnings("unchecked") // Java has no other way to make an array of a generic type
    static <T> BlockingQueue<T>[] queues(int count, int room) {
        BlockingQueue<T>[] all = new BlockingQueue[count];
        Arrays.setAll(all, i -> new ArrayBlockingQueue<>(room));
        return all;
    }

    static LongSupplier of(Job job, long n) {
        return () -> {
            long[] answer = new long[1];
            patiently(() -> answer[0] = job.run(n));
            return answer[0];
        };
    }

    /** Returns null if no workload has this name. */
    static Workload named(String name, String size) {
        return switch (name) {
            case "skynet-channel" -> skynet(size);
            case "fiber-yield" -> counted(size, Fibers::yielded);
            case "fiber-create" -> counted(size, Fibers::created);
            case "channel-rendezvous" -> summed(size, n -> sendAndAdd(new SynchronousQueue<>(), n));
            case "channel-buffered" ->
                summed(size, n -> sendAndAdd(new ArrayBlockingQueue<>(128), n));
            case "mutex-free" -> counted(size, n -> locked(1, n));
            case "mutex-contended" -> counted(size, n -> locked(4, n));
            case "condition" -> counted(size, Fibers::turns);
            case "fibers-blocked" -> counted(size, n -> crew(n, Fibers::passed));
            case "sleepers" -> counted(size, Fibers::slept);
            case "timer-lateness" -> Timers.lateness(size);
            case "timers-cancelled" ->
                counted(size, n -> crew(n, gate -> gate.await(1, TimeUnit.HOURS)));
            default -> null;
        };
    }

    private static Workload counted(String size, Job job) {
        long n = Workload.number("size", size, 1, MOST);
        return new Workload(of(job, n), n, n);
    }

    private static Workload summed(String size, Job job) {
        long n = Workload.number("size", size, 1, MOST);
        return new Workload(of(job, n), n * (n - 1) / 2, n);
    }

    private static Workload skynet(String size) {
        long leaves = Workload.number("size", size, 1, 100_000_000);
        long power = 1;
        while (power < leaves) {
            power *= 10;
        }
        if (power != leaves) {
            throw new IllegalArgumentException("size must be a power of ten, not '" + size + "'");
        }
        Job job = n -> {
            BlockingQueue<Long> result = new ArrayBlockingQueue<>(1);
            start(() -> node(result, 0, n));
            return result.take();
        };
        return new Workload(of(job, leaves), leaves * (leaves - 1) / 2, (10 * leaves - 1) / 9);
    }

    private static void node(BlockingQueue<Long> above, long first, long leaves)
            throws InterruptedException {
        if (leaves == 1) {
            above.put(first);
            return;
        }
        BlockingQueue<Long> below = new ArrayBlockingQueue<>(10);
        long part = leaves / 10;
        for (int i = 0; i < 10; i++) {
            long number = first + i * part;
            start(() -> node(below, number, part));
        }
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += below.take();
        }
        above.put(sum);
    }

    private static long yielded(long n) throws InterruptedException {
        long[] counts = new long[2];
        Thread[] both = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int me = i;
            long share = me == 0 ? n - n / 2 : n / 2;
            both[i] = start(() -> {
                long count = 0;
                for (; count < share; count++) {
                    Thread.yield();
                }
                counts[me] = count;
            });
        }
        both[0].join();
        both[1].join();
        return counts[0] + counts[1];
    }

    private static long created(long n) throws InterruptedException {
        long[] count = new long[1];
        for (long i = 0; i < n; i++) {
            start(() -> count[0]++).join();
        }
        return count[0];
    }

    static long sendAndAdd(BlockingQueue<Long> numbers, long n) throws InterruptedException {
        long[] sum = new long[1];
        Thread producer = start(() -> {
            for (long i = 0; i < n; i++) {
                numbers.put(i);
            }
        });
        Thread consumer = start(() -> {
            long soFar = 0;
            for (long i = 0; i < n; i++) {
                soFar += numbers.take();
            }
            sum[0] = soFar;
        });
        producer.join();
        consumer.join();
        return sum[0];
    }

    private static long locked(int fibers, long n) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        long[] count = new long[1];
        Thread[] all = new Thread[fibers];
        for (int i = 0; i < fibers; i++) {
            long share = n / fibers + (i < n % fibers ? 1 : 0);
            all[i] = start(() -> {
                for (long step = 0; step < share; step++) {
                    lock.lock();
                    try {
                        count[0]++;
                    } finally {
                        lock.unlock();
                    }
                }
            });
        }
        for (Thread one : all) {
            one.join();
        }
        return count[0];
    }

    private static long turns(long n) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Condition[] mine = {lock.newCondition(), lock.newCondition()};
        int[] turn = new int[1];
        long[] count = new long[1];
        Thread[] both = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int me = i;
            long rounds = me == 0 ? n - n / 2 : n / 2;
            both[i] = start(() -> {
                lock.lock();
                try {
                    for (long round = 0; round < rounds; round++) {
                        while (turn[0] != me) {
                            mine[me].await();
                        }
                        count[0]++;
                        turn[0] = 1 - me;
                        mine[1 - me].signal();
                    }
                } finally {
                    lock.unlock();
                }
            });
        }
        both[0].join();
        both[1].join();
        return count[0];
    }

    /** The wait of one thread at the gate. It returns whether the gate was opened. */
    interface Guest {
        boolean waitAt(CountDownLatch gate) throws InterruptedException;
    }

    private static boolean passed(CountDownLatch gate) throws InterruptedException {
        gate.await();
        return true;
    }

    /**
     * Starts n threads that wait at one gate, and opens the gate when all of them wait. Returns the
     * number of waits that returned true.
     */
    private static long crew(long n, Guest guest) throws InterruptedException {
        CountDownLatch gate = new CountDownLatch(1);
        AtomicLong arrived = new AtomicLong();
        AtomicLong passed = new AtomicLong();
        Thread[] all = new Thread[(int) n];
        for (int i = 0; i < n; i++) {
            all[i] = start(() -> {
                arrived.incrementAndGet();
                if (guest.waitAt(gate)) {
                    passed.incrementAndGet();
                }
            });
        }
        while (arrived.get() < n) {
            Thread.yield();
        }
        gate.countDown();
        for (Thread one : all) {
            one.join();
        }
        return passed.get();
    }

    /**
     * The time that a sleeper sleeps, equal in every runtime: nanoseconds up to 100 ms, spread by a
     * multiplicative hash.
     */
    static long nap(long sleeper) {
        return ((sleeper * 0x9E3779B97F4A7C15L) >>> 32) % 100_000 * 1000;
    }

    private static long slept(long n) throws InterruptedException {
        AtomicLong woken = new AtomicLong();
        Thread[] all = new Thread[(int) n];
        for (int i = 0; i < n; i++) {
            long nanos = nap(i);
            all[i] = start(() -> {
                Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
                woken.incrementAndGet();
            });
        }
        for (Thread one : all) {
            one.join();
        }
        return woken.get();
    }
}
