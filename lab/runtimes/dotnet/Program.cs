// SPDX-License-Identifier: Apache-2.0
// The lab's port to .NET. `WORKLOAD SIZE THREADS` runs one workload once to warm up and once timed,
// and prints one line of JSON.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Threading;
using System.Threading.Tasks;

static class Program {
    const int MostThreads = 1024;

    static Workload Named(string name, string size) =>
        Forks.Named(name, size) ?? Fibers.Named(name, size) ?? Ready.Named(name, size) ??
        Timers.Named(name, size) ?? Control.Named(name, size) ?? Actors.Named(name, size) ??
        Servants.Named(name, size) ??
        throw new ArgumentException("unknown workload '" + name + "'");

    // Sets the least and the most threads of the pool to `threads`. The least is set to 1 first,
    // since the most must not be below it.
    static void LimitPool(int threads) {
        ThreadPool.GetMinThreads(out _, out int waiting);
        if (!ThreadPool.SetMinThreads(1, waiting))
            throw new InvalidOperationException("the thread pool refuses one thread");
        ThreadPool.GetMaxThreads(out _, out int most);
        if (!ThreadPool.SetMaxThreads(threads, most) || !ThreadPool.SetMinThreads(threads, waiting))
            throw new InvalidOperationException("the thread pool refuses " + threads + " threads");
    }

    // Runs the workload in a thread of the pool, whose forks go to its own queue.
    static long Enter(Workload workload) => Task.Run(workload.Run).GetAwaiter().GetResult();

    static void Measure(string[] arguments) {
        if (arguments.Length != 3) throw new ArgumentException("usage: WORKLOAD SIZE THREADS");
        int threads = (int)Workload.Number("threads", arguments[2], 1, MostThreads);
        Workload workload = Named(arguments[0], arguments[1]);
        LimitPool(threads);
        if (Environment.GetEnvironmentVariable("LAB_NO_WARMUP") == null) Enter(workload);
        double cpuBefore = Usage.CpuSeconds();
        Stopwatch clock = Stopwatch.StartNew();
        long answer = Enter(workload);
        double seconds = clock.Elapsed.TotalSeconds;
        double cpu = Usage.CpuSeconds() - cpuBefore;
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture,
            "{{\"answer\": {0}, \"expected\": {1}, \"seconds\": {2:F9}, \"cpu_seconds\": {3:F6}, " +
                "\"tasks\": {4}, \"peak_rss_kib\": {5}{6}}}",
            answer, workload.Expected, seconds, cpu, workload.Tasks, Usage.PeakRss(),
            workload.Extra()));
        if (answer != workload.Expected)
            throw new InvalidOperationException(
                "wrong answer: " + answer + ", not " + workload.Expected);
    }

    static int Main(string[] arguments) {
        try {
            Measure(arguments);
            return 0;
        } catch (Exception failure) { // any exception gives one line, not a dump
            Console.Error.WriteLine(failure.Message);
            return 1;
        }
    }
}
