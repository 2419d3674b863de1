// SPDX-License-Identifier: Apache-2.0
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * One problem of one size: the function that runs it, the expected answer, the number of nodes of
 * the tree of calls or of operations, and the further members of the line of JSON, which are known
 * after the run.
 */
record Workload(LongSupplier run, long expected, long tasks, Supplier<String> extra) {
    Workload(LongSupplier run, long expected, long tasks) {
        this(run, expected, tasks, () -> "");
    }

    static Workload named(String name, String size, Forks forks) {
        return switch (name) {
            case "fib" -> Fib.of(size, forks);
            case "skynet" -> Skynet.of(size, forks);
            case "nqueens" -> Queens.of(size, forks);
            case "matmul" -> Matmul.of(size, forks);
            case "uts" -> Uts.of(size, forks);
            default -> fibers(name, size, forks);
        };
    }

    private static Workload fibers(String name, String size, Forks forks) {
        Workload found = forks instanceof VirtualThreads ? Fibers.named(name, size) : null;
        if (found == null && forks instanceof VirtualThreads) {
            found = Actors.named(name, size);
        }
        if (found == null && forks instanceof VirtualThreads) {
            found = Scaling.named(name, size);
        }
        if (found == null && forks instanceof VirtualThreads) {
            found = Traffic.named(name, size);
        }
        if (found == null) {
            throw new IllegalArgumentException("unknown workload '" + name + "'");
        }
        return found;
    }

    /** Returns the number that `text` stands for. `what` names the number in the error message. */
    static int number(String what, String text, int low, int high) {
        try {
            int value = Integer.parseInt(text);
            if (low <= value && value <= high) {
                return value;
            }
        } catch (NumberFormatException notOne) {
            // The exception below reports it.
        }
        throw new IllegalArgumentException(
            what + " must be a number from " + low + " to " + high + ", not '" + text + "'");
    }
}
