// SPDX-License-Identifier: Apache-2.0
using System;
using System.Globalization;
using System.Threading.Tasks;

// One problem of one size: how to run it, what must come out, the nodes of the tree of calls or operations, and what it says
// besides when it has run, as further members of the line of JSON.
sealed class Workload {
    public const int MostOperations = 999_999_999;

    public readonly Func<Task<long>> Run;
    public readonly long Expected;
    public readonly long Tasks;
    public readonly Func<string> Extra;

    public Workload(Func<Task<long>> run, long expected, long tasks, Func<string> extra = null) {
        Run = run;
        Expected = expected;
        Tasks = tasks;
        Extra = extra ?? (() => "");
    }

    // Whose answer is the number of operations.
    public static Workload Counted(string size, Func<long, Task<long>> run) {
        long n = Number("size", size, 1, MostOperations);
        return new Workload(() => run(n), n, n);
    }

    // Whose answer is the sum of the numbers from 0 to n - 1, which travel as messages.
    public static Workload Summed(string size, Func<long, Task<long>> run) {
        long n = Number("size", size, 1, MostOperations);
        return new Workload(() => run(n), n * (n - 1) / 2, n);
    }

    // The number that text stands for; what says whose it is.
    public static long Number(string what, string text, long low, long high) {
        if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long value) && low <= value && value <= high)
            return value;
        throw new ArgumentException(what + " must be a number from " + low + " to " + high + ", not '" + text + "'");
    }

    // The part of n that belongs to one of several.
    public static long ShareOf(long n, long one, long parts) => n / parts + (one < n % parts ? 1 : 0);
}
