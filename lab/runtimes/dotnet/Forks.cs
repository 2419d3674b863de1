// SPDX-License-Identifier: Apache-2.0
// The workloads of forks. A fork is a task of the Task Parallel Library in the queue of the thread
// that makes it. If no other thread has taken the task, the joining thread runs it on the spot,
// which costs no suspension. Otherwise the joining task awaits it, and its thread takes other work.
// Task.Wait alone, and Parallel.Invoke, which is built on it, hold their thread while they wait for
// a child that was stolen.
using System;
using System.Threading;
using System.Threading.Tasks;

// The input and the result of a task. It is the task's state object, so a fork needs no closure and
// no delegate of its own, and the task needs no result. The thread that runs the task writes the
// fields after `task`. The end of the task publishes them, except for `started`, which is only a
// hint.
abstract class Call {
    static readonly Action<object> execute = call => ((Call)call).Execute();

    Task task;
    volatile bool started;
    long result;
    Task<long> pending; // not null: the result exists when this task has ended

    public abstract ValueTask<long> Run();

    void Execute() {
        started = true;
        ValueTask<long> outcome = Run();
        if (outcome.IsCompletedSuccessfully) result = outcome.Result;
        else pending = outcome.AsTask();
    }

    public Call Fork() {
        task = Task.Factory.StartNew(
            execute, this, CancellationToken.None, TaskCreationOptions.None, TaskScheduler.Default);
        return this;
    }

    // Returns true and the result, or false if the result must be awaited.
    public bool Join(out long value) {
        // Wait runs a task that is still in a queue on this thread. If a thief takes the task
        // first, Wait waits for the thief, which needs nothing from this thread.
        if (!started) task.Wait();
        if (task.IsCompletedSuccessfully && pending == null) {
            value = result;
            return true;
        }
        value = 0;
        return false;
    }

    public async ValueTask<long> JoinLater() {
        await task;
        return pending == null ? result : await pending;
    }
}

static class Forks {
    // Returns null if no workload has this name.
    public static Workload Named(string name, string size) {
        switch (name) {
            case "fib": return Fib.Of(size);
            case "skynet": return Skynet.Of(size);
            case "nqueens": return Queens.Of(size);
            case "matmul": return Matmul.Of(size);
            case "uts": return Uts.Of(size);
            default: return null;
        }
    }

    // Returns the sum of a child's result and the inline child's result. It uses a state machine
    // only if one of the results does not exist yet.
    public static ValueTask<long> Sum(Call child, ValueTask<long> last) =>
        last.IsCompletedSuccessfully && child.Join(out long first)
            ? new ValueTask<long>(first + last.Result)
            : SumLater(child, last);

    static async ValueTask<long> SumLater(Call child, ValueTask<long> last) {
        long sum = await last;
        return sum + (child.Join(out long first) ? first : await child.JoinLater());
    }

    // Returns the sum of the children's results and the inline child's result. The children are
    // joined in the reverse order of their forks, so the newest one in the queue comes first.
    public static ValueTask<long> Sum(Call[] children, ValueTask<long> last) {
        if (!last.IsCompletedSuccessfully) return SumLater(children, children.Length, last);
        long sum = last.Result;
        for (int i = children.Length; i-- > 0;) {
            if (!children[i].Join(out long one))
                return SumLater(children, i + 1, new ValueTask<long>(sum));
            sum += one;
        }
        return new ValueTask<long>(sum);
    }

    // The children before `left` are still to be joined.
    static async ValueTask<long> SumLater(Call[] children, int left, ValueTask<long> last) {
        long sum = await last;
        while (left-- > 0)
            sum += children[left].Join(out long one) ? one : await children[left].JoinLater();
        return sum;
    }
}

// The Fibonacci numbers, by definition.
sealed class Fib : Call {
    readonly int n;

    Fib(int n) { this.n = n; }

    public override ValueTask<long> Run() => Number(n);

    static ValueTask<long> Number(int n) {
        if (n < 2) return new ValueTask<long>(n);
        Call child = new Fib(n - 1).Fork();
        return Forks.Sum(child, Number(n - 2));
    }

    public static Workload Of(string size) {
        int n = (int)Workload.Number("size", size, 0, 80);
        long a = 0, b = 1;
        for (int i = 0; i < n; i++) (a, b) = (b, a + b);
        return new Workload(() => Number(n).AsTask(), a, 2 * b - 1);
    }
}

// A tree with ten children for each inner node. Inner nodes add the numbers of their leaves.
sealed class Skynet : Call {
    readonly long first, count;

    Skynet(long first, long count) {
        this.first = first;
        this.count = count;
    }

    public override ValueTask<long> Run() => Node(first, count);

    static ValueTask<long> Node(long first, long count) {
        if (count == 1) return new ValueTask<long>(first);
        long part = count / 10;
        var children = new Call[9];
        for (int i = 0; i < 9; i++) children[i] = new Skynet(first + i * part, part).Fork();
        return Forks.Sum(children, Node(first + 9 * part, part));
    }

    public static Workload Of(string size) {
        long leaves = 1;
        for (long level = Workload.Number("size", size, 0, 9); level > 0; level--) leaves *= 10;
        return new Workload(
            () => Node(0, leaves).AsTask(), leaves * (leaves - 1) / 2, (leaves * 10 - 1) / 9);
    }
}

// The ways to place n queens on a board of n by n, with a child for each legal row of a column.
sealed class Queens : Call {
    static readonly long[] solutions = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712,
        365596, 2279184, 14772512};
    static readonly long[] nodes = {1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189,
        4674890, 27358553, 171129072, 1141190303};

    readonly int column;
    readonly byte[] board;
    readonly byte row;

    Queens(int column, byte[] board, byte row) {
        this.column = column;
        this.board = board;
        this.row = row;
    }

    // Continues on a board of its own with one queen more.
    public override ValueTask<long> Run() {
        byte[] next = (byte[])board.Clone();
        next[column] = row;
        return Column(column + 1, next);
    }

    static ValueTask<long> Column(int column, byte[] board) {
        int n = board.Length;
        if (column == n) return new ValueTask<long>(1);
        Span<byte> moves = stackalloc byte[solutions.Length];
        int count = 0;
        for (byte row = 0; row < n; row++) {
            bool legal = true;
            for (int x = 0; x < column && legal; x++) {
                int d = column - x;
                legal = row != board[x] && row != board[x] - d && row != board[x] + d;
            }
            if (legal) moves[count++] = row;
        }
        if (count == 0) return new ValueTask<long>(0);
        var children = count == 1 ? Array.Empty<Call>() : new Call[count - 1];
        for (int i = 0; i < count - 1; i++)
            children[i] = new Queens(column, board, moves[i]).Fork();
        return Forks.Sum(children, new Queens(column, board, moves[count - 1]).Run());
    }

    public static Workload Of(string size) {
        int n = (int)Workload.Number("size", size, 1, solutions.Length - 1);
        return new Workload(() => Column(0, new byte[n]).AsTask(), solutions[n], nodes[n]);
    }
}
