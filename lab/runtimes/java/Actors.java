// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.LongUnaryOperator;

/**
 * The workloads of actors. An actor is a virtual thread with a queue. If few messages can be in a
 * queue at the same time, the queue has room for all of them, so that no circle of senders waits
 * for itself. Otherwise it has room for 128.
 */
final class Actors {
    private static final int RING = 503;
    private static final int SENDERS = 20;
    private static final int WORK_TOKENS = 64;
    static final int MAILBOX = 128;

    private Actors() {}

    /** Returns null if no workload has this name. */
    static Workload named(String name, String size) {
        return switch (name) {
            case "thread-ring" -> messages(size, 1, n -> n % RING + 1, n -> ring(1, n, 0));
            case "parallel-thread-ring" -> messages(size, RING, n -> n, Actors::parallelRing);
            case "ping-pong" -> messages(size, 1, n -> n, Actors::pingPong);
            case "counting-actor" -> messages(size, 1, n -> n * (n - 1) / 2, Actors::counting);
            case "skynet-actor" -> Fibers.named("skynet-channel", size);
            case "fan-in" -> messages(size, SENDERS, n -> n, Actors::fanIn);
            case "spawn-storm" -> messages(size, 1, n -> n, Actors::storm);
            case "ring-work" -> messages(size, WORK_TOKENS, n -> n, Actors::ringWork);
            default -> Servants.named(name, size);
        };
    }

    /** A workload of n messages, where n is rounded up to a multiple of the parts. */
    static Workload messages(String size, long parts, LongUnaryOperator answer, Fibers.Job job) {
        long given = Workload.number("size", size, 1, Fibers.MOST);
        long n = (given + parts - 1) / parts * parts;
        return new Workload(Fibers.of(job, n), answer.applyAsLong(n), n);
    }

    /** A seed of 0 stands for no work. */
    private record Token(long hops, long seed) {}

    private static final Token END = new Token(-1, 0);

    private static long someWork(long seed) {
        for (int i = 0; i < 530; i++) {
            seed = (seed ^ seed >>> 33) * 6364136223846793005L + 1442695040888963407L;
        }
        return seed;
    }

    private static void node(long number, BlockingQueue<Token> mine, BlockingQueue<Token> next,
            BlockingQueue<Long> stopped)
            throws InterruptedException {
        for (Token token = mine.take(); token != END; token = mine.take()) {
            if (token.hops == 0) {
                stopped.put(number);
            } else {
                next.put(new Token(token.hops - 1, token.seed == 0 ? 0 : someWork(token.seed) | 1));
            }
        }
    }

    /**
     * Sends tokens around 503 actors, from evenly spread actors. Returns the sum of the numbers of
     * the actors that have the tokens last.
     */
    private static long ring(int tokens, long hops, long firstSeed) throws InterruptedException {
        BlockingQueue<Token>[] queues = Fibers.queues(RING, tokens + 1); // with room for END
        BlockingQueue<Long> stopped = new ArrayBlockingQueue<>(tokens);
        Thread[] all = new Thread[RING];
        for (int i = 0; i < RING; i++) {
            int me = i;
            all[i] = Fibers.start(() -> node(me + 1, queues[me], queues[(me + 1) % RING], stopped));
        }
        for (int i = 0; i < tokens; i++) {
            queues[i * RING / tokens].put(new Token(hops, firstSeed == 0 ? 0 : firstSeed + i));
        }
        long sum = 0;
        for (int i = 0; i < tokens; i++) {
            sum += stopped.take();
        }
        for (int i = 0; i < RING; i++) {
            queues[i].put(END);
        }
        for (Thread one : all) {
            one.join();
        }
        return sum;
    }

    private static long parallelRing(long n) throws InterruptedException {
        return ring(RING, n / RING, 0) == RING * (RING + 1) / 2 ? n : -1;
    }

    private static long ringWork(long n) throws InterruptedException {
        long hops = n / WORK_TOKENS;
        long expected = 0;
        for (long i = 0; i < WORK_TOKENS; i++) {
            expected += (i * RING / WORK_TOKENS + hops) % RING + 1;
        }
        return ring(WORK_TOKENS, hops, 1) == expected ? n : -1;
    }

    private record Ball(long left, BlockingQueue<Ball> from) {}

    private static void play(BlockingQueue<Ball> mine, BlockingQueue<Long> counts)
            throws InterruptedException {
        long sent = 0;
        long left;
        do {
            Ball ball = mine.take();
            left = ball.left;
            if (left > 0) {
                sent++;
                ball.from.put(new Ball(left - 1, mine));
            }
        } while (left > 1);
        counts.put(sent);
    }

    private static long pingPong(long n) throws InterruptedException {
        BlockingQueue<Ball> a = new ArrayBlockingQueue<>(1);
        BlockingQueue<Ball> b = new ArrayBlockingQueue<>(1);
        BlockingQueue<Long> counts = new ArrayBlockingQueue<>(2);
        Fibers.start(() -> play(a, counts));
        Fibers.start(() -> play(b, counts));
        b.put(new Ball(n, a));
        return counts.take() + counts.take();
    }

    private static long counting(long n) throws InterruptedException {
        return Fibers.sendAndAdd(new ArrayBlockingQueue<>(MAILBOX), n);
    }

    private static long fanIn(long n) throws InterruptedException {
        BlockingQueue<Long> mailbox = new ArrayBlockingQueue<>(MAILBOX);
        for (int i = 0; i < SENDERS; i++) {
            Fibers.start(() -> {
                for (long left = n / SENDERS; left > 0; left--) {
                    mailbox.put(left);
                }
            });
        }
        long[] seen = new long[1];
        Fibers.start(() -> {
            for (; seen[0] < n; seen[0]++) {
                mailbox.take();
            }
        }).join();
        return seen[0];
    }

    private static void live(BlockingQueue<Long> mine, long last, BlockingQueue<Long> done)
            throws InterruptedException {
        long number = mine.take();
        if (number == last) {
            done.put(number);
            return;
        }
        BlockingQueue<Long> next = new ArrayBlockingQueue<>(1);
        Fibers.start(() -> live(next, last, done));
        next.put(number + 1);
    }

    private static long storm(long n) throws InterruptedException {
        BlockingQueue<Long> first = new ArrayBlockingQueue<>(1);
        BlockingQueue<Long> done = new ArrayBlockingQueue<>(1);
        Fibers.start(() -> live(first, n, done));
        first.put(1L);
        return done.take();
    }
}
