// SPDX-License-Identifier: Apache-2.0
// The workloads of timers. The timers of .NET know only whole milliseconds of a coarse clock. A
// task that must not sleep less than asked therefore reads the time when it wakes.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;
using System.Threading.Tasks;

static class Timers {
    // Returns null if no workload has this name.
    public static Workload Named(string name, string size) {
        switch (name) {
            case "sleepers": return Workload.Counted(size, Sleepers);
            case "timer-lateness": return Lateness(size);
            case "timers-cancelled": return Workload.Counted(size, n => Fibers.Crew(n, WaitAnHour));
            default: return null;
        }
    }

    // The time that a sleeper sleeps, equal in every runtime: microseconds up to 100 ms, spread by
    // a multiplicative hash.
    static long Nap(long sleeper) => (long)(((ulong)sleeper * 0x9E3779B97F4A7C15) >> 32) % 100_000;

    static int WholeMilliseconds(long microseconds) => (int)((microseconds + 999) / 1000);

    static async Task<long> Sleepers(long n) {
        long woken = 0;
        var all = new Task[n];
        for (long i = 0; i < n; i++) {
            int pause = WholeMilliseconds(Nap(i));
            all[i] = Task.Run(async () => {
                await Task.Delay(pause);
                Interlocked.Increment(ref woken);
            });
        }
        await Task.WhenAll(all);
        return woken;
    }

    static double Microseconds(long ticks) => ticks * 1e6 / Stopwatch.Frequency;

    static Workload Lateness(string size) {
        int n = (int)Workload.Number("size", size, 1, Workload.MostOperations);
        var late = new double[n];
        async Task<long> Sleep() {
            for (int i = 0; i < n; i++) {
                long pause = 1000 + Nap(i) / 100;
                long start = Stopwatch.GetTimestamp();
                double over;
                while ((over = Microseconds(Stopwatch.GetTimestamp() - start) - pause) < 0)
                    await Task.Delay(WholeMilliseconds((long)Math.Ceiling(-over)));
                late[i] = over;
            }
            return n;
        }
        string Said() {
            Array.Sort(late);
            return string.Format(CultureInfo.InvariantCulture,
                ", \"late_us_p50\": {0:F1}, \"late_us_p99\": {1:F1}",
                late[(int)((n - 1) * 50L / 100)], late[(int)((n - 1) * 99L / 100)]);
        }
        return new Workload(Sleep, n, n, Said);
    }

    // Returns whether the gate was opened within an hour.
    static async Task<bool> WaitAnHour(Task gate) {
#if NET6_0_OR_GREATER
        try {
            await gate.WaitAsync(TimeSpan.FromHours(1));
            return true;
        } catch (TimeoutException) {
            return false;
        }
#else
        using (var cancel = new CancellationTokenSource()) {
            Task first = await Task.WhenAny(gate, Task.Delay(TimeSpan.FromHours(1), cancel.Token));
            cancel.Cancel();
            return first == gate;
        }
#endif
    }
}
