// SPDX-License-Identifier: Apache-2.0
// The workloads of fibers. A fiber is an async method in a task of its own, and blocks on the
// objects that such methods await: channels of System.Threading.Channels, SemaphoreSlim as mutex
// and in the place of a condition variable, and a TaskCompletionSource as event. None of them holds
// a thread.
using System;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

// A channel without room. The sender waits until the receiver reports that it has taken the value.
// There is one sender and one receiver.
sealed class Rendezvous {
    readonly Channel<long> slot = Channel.CreateUnbounded<long>(
        new UnboundedChannelOptions {SingleReader = true, SingleWriter = true});
    readonly SemaphoreSlim taken = new SemaphoreSlim(0);

    public ChannelReader<long> Values => slot.Reader;

    public Task Send(long value) {
        if (!slot.Writer.TryWrite(value))
            throw new InvalidOperationException("the channel is closed");
        return taken.WaitAsync();
    }

    // The receiver calls this after each value.
    public void Took() => taken.Release();
}

static class Fibers {
    // Returns null if no workload has this name.
    public static Workload Named(string name, string size) {
        switch (name) {
            case "skynet-channel": return SkynetOf(size);
            case "fiber-yield": return Workload.Counted(size, Yielded);
            case "fiber-create": return Workload.Counted(size, Created);
            case "channel-rendezvous": return Workload.Summed(size, HandedOver);
            case "channel-buffered": return Workload.Summed(size, Buffered);
            case "mutex-free": return Workload.Counted(size, n => Locked(1, n));
            case "mutex-contended": return Workload.Counted(size, n => Locked(4, n));
            case "condition": return Workload.Counted(size, Turns);
            case "fibers-blocked": return Workload.Counted(size, n => Crew(n, Passed));
            case "select-two": return Workload.Summed(size, Selected);
            default: return null;
        }
    }

    public static Channel<long> WithRoom(int room, bool singleWriter) =>
        Channel.CreateBounded<long>(
        new BoundedChannelOptions(room) {SingleReader = true, SingleWriter = singleWriter});

    static Workload SkynetOf(string size) {
        long leaves = Workload.Number("size", size, 1, 100_000_000);
        long power = 1;
        while (power < leaves) power *= 10;
        if (power != leaves)
            throw new ArgumentException("size must be a power of ten, not '" + size + "'");
        return new Workload(() => Skynet(leaves), leaves * (leaves - 1) / 2, (10 * leaves - 1) / 9);
    }

    static async Task<long> Skynet(long leaves) {
        Channel<long> result = WithRoom(1, true);
        _ = Task.Run(() => Node(result.Writer, 0, leaves));
        return await result.Reader.ReadAsync();
    }

    // No task waits for the end of a node: the node's only result is the number that it sends.
    static async Task Node(ChannelWriter<long> above, long first, long leaves) {
        if (leaves == 1) {
            await above.WriteAsync(first);
            return;
        }
        Channel<long> below = WithRoom(10, false);
        long part = leaves / 10;
        for (int i = 0; i < 10; i++) {
            long number = first + i * part;
            _ = Task.Run(() => Node(below.Writer, number, part));
        }
        long sum = 0;
        for (int i = 0; i < 10; i++) sum += await below.Reader.ReadAsync();
        await above.WriteAsync(sum);
    }

    static async Task<long> Yielded(long n) {
        async Task<long> Half(long share) {
            long count = 0;
            for (; count < share; count++) await Task.Yield();
            return count;
        }
        long[] counts = await Task.WhenAll(
            Task.Run(() => Half(n - n / 2)), Task.Run(() => Half(n / 2)));
        return counts[0] + counts[1];
    }

    static async Task<long> Created(long n) {
        long count = 0;
        Action step = () => count++;
        for (long i = 0; i < n; i++) await Task.Run(step);
        return count;
    }

    static async Task<long> HandedOver(long n) {
        var numbers = new Rendezvous();
        Task producer = Task.Run(() => Produce(numbers, 0, n));
        Task<long> consumer = Task.Run(async () => {
            long sum = 0;
            for (long i = 0; i < n; i++) {
                sum += await numbers.Values.ReadAsync();
                numbers.Took();
            }
            return sum;
        });
        await producer;
        return await consumer;
    }

    static async Task Produce(Rendezvous to, long first, long end) {
        for (long i = first; i < end; i++) await to.Send(i);
    }

    static Task<long> Buffered(long n) => SendAndAdd(WithRoom(128, true), n);

    public static async Task<long> SendAndAdd(Channel<long> numbers, long n) {
        Task producer = Task.Run(async () => {
            for (long i = 0; i < n; i++) await numbers.Writer.WriteAsync(i);
        });
        Task<long> consumer = Task.Run(async () => {
            long sum = 0;
            for (long i = 0; i < n; i++) sum += await numbers.Reader.ReadAsync();
            return sum;
        });
        await producer;
        return await consumer;
    }

    // .NET offers Task.WhenAny for a select. The wait for a channel that was not ready is kept for
    // the next round.
    static async Task<long> Selected(long n) {
        Rendezvous[] both = {new Rendezvous(), new Rendezvous()};
        Task low = Task.Run(() => Produce(both[0], 0, n / 2));
        Task high = Task.Run(() => Produce(both[1], n / 2, n));
        Task<long> consumer = Task.Run(async () => {
            long sum = 0, left = n;
            var ready = new Task<bool>[2];
            while (left > 0) {
                bool took = false;
                foreach (Rendezvous one in both) {
                    if (!one.Values.TryRead(out long value)) continue;
                    one.Took();
                    sum += value;
                    left--;
                    took = true;
                }
                if (took || left == 0) continue;
                for (int i = 0; i < 2; i++)
                    if (ready[i] == null || ready[i].IsCompleted)
                        ready[i] = both[i].Values.WaitToReadAsync().AsTask();
                await Task.WhenAny(ready[0], ready[1]);
            }
            return sum;
        });
        await low;
        await high;
        return await consumer;
    }

    static async Task<long> Locked(int fibers, long n) {
        var mutex = new SemaphoreSlim(1, 1);
        long count = 0; // guarded by the mutex
        var all = new Task[fibers];
        for (int i = 0; i < fibers; i++) {
            long share = Workload.ShareOf(n, i, fibers);
            all[i] = Task.Run(async () => {
                for (long step = 0; step < share; step++) {
                    await mutex.WaitAsync();
                    count++;
                    mutex.Release();
                }
            });
        }
        await Task.WhenAll(all);
        return count;
    }

    // .NET has no condition variable that can be awaited. A fiber whose turn it is not releases the
    // mutex and awaits its own semaphore, which keeps a signal that arrives meanwhile.
    static async Task<long> Turns(long n) {
        var mutex = new SemaphoreSlim(1, 1);
        SemaphoreSlim[] mine = {new SemaphoreSlim(0), new SemaphoreSlim(0)};
        int turn = 0; // guarded by the mutex, as is the count
        long count = 0;
        async Task Play(int me, long rounds) {
            await mutex.WaitAsync();
            for (long round = 0; round < rounds; round++) {
                while (turn != me) {
                    mutex.Release();
                    await mine[me].WaitAsync();
                    await mutex.WaitAsync();
                }
                count++;
                turn = 1 - me;
                mine[turn].Release();
            }
            mutex.Release();
        }
        await Task.WhenAll(Task.Run(() => Play(0, n - n / 2)), Task.Run(() => Play(1, n / 2)));
        return count;
    }

    static async Task<bool> Passed(Task gate) {
        await gate;
        return true;
    }

    // Starts n fibers that wait at one gate, and opens the gate when all of them wait. Returns the
    // number of waits that returned true.
    public static async Task<long> Crew(long n, Func<Task, Task<bool>> wait) {
        var gate = new TaskCompletionSource<bool>(
            TaskCreationOptions.RunContinuationsAsynchronously);
        long arrived = 0, passed = 0;
        Func<Task> body = async () => {
            Interlocked.Increment(ref arrived);
            if (await wait(gate.Task)) Interlocked.Increment(ref passed);
        };
        var all = new Task[n];
        for (long i = 0; i < n; i++) all[i] = Task.Run(body);
        while (Volatile.Read(ref arrived) < n) await Task.Yield();
        gate.SetResult(true);
        await Task.WhenAll(all);
        return passed;
    }
}
