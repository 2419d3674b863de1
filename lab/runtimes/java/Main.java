// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;

/**
 * The lab's port to Java. `FORKS WORKLOAD SIZE THREADS` runs one workload once to warm up and once
 * timed, and prints one line of JSON.
 */
public final class Main {
    private static final int MOST_THREADS = 1024;

    private Main() {}

    private static void measure(String[] arguments) throws IOException {
        if (arguments.length != 4) {
            throw new IllegalArgumentException("usage: WORKLOAD SIZE THREADS");
        }
        int threads = Workload.number("threads", arguments[3], 1, MOST_THREADS);
        boolean isVirtual = !arguments[0].equals("ForkJoin");
        if (isVirtual && Server.knows(arguments[1])) {
            Workload.number("size", arguments[2], 1, Integer.MAX_VALUE);
            Server.serve(arguments[1]);
            return;
        }
        Forks forks = isVirtual ? new VirtualThreads() : new ForkJoin(threads);
        Workload workload = Workload.named(arguments[1], arguments[2], forks);
        if (System.getenv("LAB_NO_WARMUP") == null) {
            forks.enter(workload.run());
        }
        double cpuBefore = Usage.cpuSeconds();
        long start = System.nanoTime();
        long answer = forks.enter(workload.run());
        double seconds = (System.nanoTime() - start) / 1e9;
        double cpu = Usage.cpuSeconds() - cpuBefore;
        System.out.printf(
            "{\"answer\": %d, \"expected\": %d, \"seconds\": %.9f, \"cpu_seconds\": %.6f, "
                + "\"tasks\": %d, \"peak_rss_kib\": %d%s}%n",
            answer, workload.expected(), seconds, cpu, workload.tasks(), Usage.peakRss(),
            workload.extra().get());
        if (answer != workload.expected()) {
            throw new IllegalStateException(
                "wrong answer: " + answer + ", not " + workload.expected());
        }
    }

    public static void main(String[] arguments) {
        try {
            measure(arguments);
        } catch (IllegalArgumentException | IllegalStateException | IOException failure) {
            System.err.println(failure.getMessage());
            System.exit(1);
        }
        System.exit(0); // ends the threads that a pool still has
    }
}
