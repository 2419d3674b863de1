// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Actors that work for each other, as in Go's port. A buffer is a queue with the buffer's room. A
 * pool is a queue that holds the lent objects.
 */
final class Servants {
    private static final int PRODUCERS = 5;
    private static final int CONSUMERS = 5;
    private static final int BUFFER = 50;
    private static final long COMPOSITE = 600_213_349;
    private static final long SMALLEST_FACTOR = 20_483;
    private static final int PRIME_WORKERS = 16;
    private static final int PRIME_BUFFERS = 8;
    private static final int QUERIES_UNDER_WAY = 32;
    private static final int MIXED_RINGS = 20;
    private static final int MIXED_ACTORS = 100;
    private static final Long END = -1L; // ends an actor, as a queue cannot be closed

    private Servants() {}

    /** Returns null if no workload has this name. */
    static Workload named(String name, String size) {
        return switch (name) {
            case "producer-consumer" ->
                Actors.messages(size, 1, n -> n, Servants::producerConsumer);
            case "prime-factors" ->
                Actors.messages(size, 1, n -> n * SMALLEST_FACTOR, Servants::primeFactors);
            case "mixed-scenario" ->
                Actors.messages(size, MIXED_RINGS, n -> n, Servants::mixedScenario);
            default -> null;
        };
    }

    private static long smallestFactorOf(long number) {
        for (long i = 2; i * i <= number; i++) {
            if (number % i == 0) {
                return i;
            }
        }
        return number;
    }

    private static void join(Thread[] all) throws InterruptedException {
        for (Thread one : all) {
            one.join();
        }
    }

    private static long producerConsumer(long n) throws InterruptedException {
        BlockingQueue<Long> buffer = new ArrayBlockingQueue<>(BUFFER);
        BlockingQueue<Long> arrived = new ArrayBlockingQueue<>(Actors.MAILBOX);
        for (int i = 0; i < PRODUCERS; i++) {
            long count = n / PRODUCERS + (i < n % PRODUCERS ? 1 : 0);
            Fibers.start(() -> {
                for (long left = count; left > 0; left--) {
                    buffer.put(left);
                }
            });
        }
        Thread[] consumers = new Thread[CONSUMERS];
        for (int i = 0; i < CONSUMERS; i++) {
            consumers[i] = Fibers.start(() -> {
                while (!buffer.take().equals(END)) {
                    arrived.put(1L);
                }
            });
        }
        long sum = 0;
        while (sum < n) {
            sum += arrived.take();
        }
        for (int i = 0; i < CONSUMERS; i++) {
            buffer.put(END);
        }
        join(consumers);
        return sum;
    }

    private record Solved(int by, long factor) {}

    private static void primeWorker(
            int number, BlockingQueue<Boolean> queries, BlockingQueue<byte[]> pool,
            BlockingQueue<Solved> answers) throws InterruptedException {
        while (queries.take()) {
            byte[] buffer = pool.take();
            long factor = smallestFactorOf(COMPOSITE);
            pool.put(buffer);
            answers.put(new Solved(number, factor));
        }
    }

    private static long primeFactors(long n) throws InterruptedException {
        BlockingQueue<byte[]> pool = new ArrayBlockingQueue<>(PRIME_BUFFERS);
        for (int i = 0; i < PRIME_BUFFERS; i++) {
            pool.put(new byte[64]);
        }
        BlockingQueue<Solved> answers = new ArrayBlockingQueue<>(QUERIES_UNDER_WAY);
        // A query of false follows the last query.
        BlockingQueue<Boolean>[] queries = Fibers.queues(PRIME_WORKERS, QUERIES_UNDER_WAY);
        Thread[] workers = new Thread[PRIME_WORKERS];
        for (int i = 0; i < PRIME_WORKERS; i++) {
            int me = i;
            workers[i] = Fibers.start(() -> primeWorker(me, queries[me], pool, answers));
        }
        long asked = Math.min(n, QUERIES_UNDER_WAY);
        for (int i = 0; i < asked; i++) {
            queries[i % PRIME_WORKERS].put(true);
        }
        long sum = 0;
        for (long i = 0; i < n; i++) {
            Solved one = answers.take();
            sum += one.factor;
            if (asked < n) {
                asked++;
                queries[one.by].put(true);
            }
        }
        for (BlockingQueue<Boolean> inbox : queries) {
            inbox.put(false);
        }
        join(workers);
        return sum;
    }

    /** Only the first node of a ring has a queue to a worker. In the other nodes it is null. */
    private static void mixedNode(
            BlockingQueue<Long> mine, BlockingQueue<Long> next, BlockingQueue<Boolean> factorise,
            BlockingQueue<Long> stopped, BlockingQueue<Long> hops) throws InterruptedException {
        long count = 0;
        for (long left = mine.take(); left != END; left = mine.take()) {
            if (left == 0) {
                stopped.put(left);
                continue;
            }
            if (factorise != null && left % MIXED_ACTORS == 0) {
                factorise.put(true);
            }
            count++;
            next.put(left - 1);
        }
        if (factorise != null) {
            factorise.put(false);
        }
        hops.put(count);
    }

    private static void mixedFactoriser(BlockingQueue<Boolean> mine, BlockingQueue<Boolean> right)
            throws InterruptedException {
        boolean all = true;
        while (mine.take()) {
            all = all && smallestFactorOf(COMPOSITE) == SMALLEST_FACTOR;
        }
        right.put(all);
    }

    private static long mixedScenario(long n) throws InterruptedException {
        BlockingQueue<Long> stopped = new ArrayBlockingQueue<>(MIXED_RINGS);
        BlockingQueue<Long> hops = new ArrayBlockingQueue<>(Actors.MAILBOX);
        BlockingQueue<Boolean> right = new ArrayBlockingQueue<>(MIXED_RINGS);
        BlockingQueue<Long>[] queues = Fibers.queues(MIXED_RINGS * MIXED_ACTORS, 1);
        BlockingQueue<Boolean>[] factorise = Fibers.queues(MIXED_RINGS, Actors.MAILBOX);
        for (int i = 0; i < queues.length; i++) {
            int me = i;
            int ring = i / MIXED_ACTORS;
            int next = (i + 1) % MIXED_ACTORS == 0 ? ring * MIXED_ACTORS : i + 1;
            BlockingQueue<Boolean> worker = i % MIXED_ACTORS == 0 ? factorise[ring] : null;
            if (worker != null) {
                Fibers.start(() -> mixedFactoriser(worker, right));
            }
            Fibers.start(() -> mixedNode(queues[me], queues[next], worker, stopped, hops));
        }
        for (int ring = 0; ring < MIXED_RINGS; ring++) {
            queues[ring * MIXED_ACTORS].put(n / MIXED_RINGS);
        }
        for (int ring = 0; ring < MIXED_RINGS; ring++) {
            stopped.take();
        }
        for (BlockingQueue<Long> queue : queues) {
            queue.put(END);
        }
        long sum = 0;
        for (int i = 0; i < queues.length; i++) {
            sum += hops.take();
        }
        boolean allRight = true;
        for (int ring = 0; ring < MIXED_RINGS; ring++) {
            allRight &= right.take();
        }
        return allRight ? sum : -1;
    }
}
