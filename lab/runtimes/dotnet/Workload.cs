// SPDX-License-Identifier: Apache-2.0
using System;
using System.Globalization;
using System.Threading.Tasks;

// One problem of one size: the function that runs it, the expected answer, the number of nodes of
// the tree of calls or of operations, and the further members of the line of JSON, which are known
// after the run.
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

    // A workload whose answer is the number of operations.
    public static Workload Counted(string size, Func<long, Task<long>> run) {
        long n = Number("size", size, 1, MostOperations);
        return new Workload(() => run(n), n, n);
    }

    // A workload whose answer is the sum of the numbers from 0 to n - 1, which travel as messages.
    public static Workload Summed(string size, Func<long, Task<long>> run) {
        long n = Number("size", size, 1, MostOperations);
        return new Workload(() => run(n), n * (n - 1) / 2, n);
    }

    // Returns the number that `text` stands for. `what` names the number in the error message.
    public static long Number(string what, string text, long low, long high) {
        if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long value) &&
            low <= value && value <= high)
            return value;
        throw new ArgumentException(
            what + " must be a number from " + low + " to " + high + ", not '" + text + "'");
    }

    // The share of number `one` when n is divided into parts.
    public static long ShareOf(long n, long one, long parts) =>
        n / parts + (one < n % parts ? 1 : 0);
}
