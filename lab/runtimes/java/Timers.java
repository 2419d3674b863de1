// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;

/** timer-lateness: a virtual thread sleeps again and again, and records how late it continues. */
final class Timers {
    private final double[] lateMicros;
    private int inTime;

    private Timers(int sleeps) {
        lateMicros = new double[sleeps];
    }

    static Workload lateness(String size) {
        int n = Workload.number("size", size, 1, Fibers.MOST);
        Timers timers = new Timers(n);
        return new Workload(Fibers.of(sleeps -> timers.sleep(), n), n, n, timers::extra);
    }

    /** Returns how many times the thread did not continue too early. */
    private long sleep() throws InterruptedException {
        inTime = 0;
        Fibers.start(() -> {
            for (int i = 0; i < lateMicros.length; i++) {
                long nanos = 1_000_000 + Fibers.nap(i) / 100;
                long due = System.nanoTime() + nanos;
                Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
                long late = System.nanoTime() - due;
                if (late >= 0) {
                    lateMicros[inTime++] = late / 1000.0;
                }
            }
        }).join();
        return inTime;
    }

    private String extra() {
        if (inTime == 0) {
            return "";
        }
        Arrays.sort(lateMicros, 0, inTime);
        return String.format(
            ", \"late_us_p50\": %.1f, \"late_us_p99\": %.1f", share(50), share(99));
    }

    private double share(int of100) {
        return lateMicros[(inTime - 1) * of100 / 100];
    }
}
