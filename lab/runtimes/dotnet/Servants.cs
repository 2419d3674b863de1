// SPDX-License-Identifier: Apache-2.0
// Actors that work for each other. A buffer is a channel with the buffer's room. A pool is a
// channel that holds the lent objects.
using System;
using System.Threading.Channels;
using System.Threading.Tasks;

static class Servants {
    const int Producers = 5, Consumers = 5, Buffer = 50;
    const long Composite = 600_213_349, SmallestFactor = 20_483;
    const int PrimeWorkers = 16, PrimeBuffers = 8, QueriesUnderWay = 32;
    const int MixedRings = 20, MixedActors = 100;

    // Returns null if no workload has this name.
    public static Workload Named(string name, string size) {
        switch (name) {
            case "producer-consumer": return Actors.Messages(size, 1, n => n, ProducerConsumer);
            case "prime-factors":
                return Actors.Messages(size, 1, n => n * SmallestFactor, PrimeFactors);
            case "mixed-scenario": return Actors.Messages(size, MixedRings, n => n, MixedScenario);
            default: return null;
        }
    }

    static long SmallestFactorOf(long number) {
        for (long i = 2; i * i <= number; i++)
            if (number % i == 0) return i;
        return number;
    }

    static async Task<long> ProducerConsumer(long n) {
        Channel<long> buffer = Channel.CreateBounded<long>(Buffer);
        Channel<long> arrived = Actors.Mailbox<long>();
        for (int i = 0; i < Producers; i++) {
            long count = Workload.ShareOf(n, i, Producers);
            _ = Task.Run(async () => {
                for (long left = count; left > 0; left--) await buffer.Writer.WriteAsync(left);
            });
        }
        var consumers = new Task[Consumers];
        for (int i = 0; i < Consumers; i++) {
            consumers[i] = Task.Run(async () => {
                while (await buffer.Reader.WaitToReadAsync())
                    while (buffer.Reader.TryRead(out long item)) arrived.Writer.TryWrite(item);
            });
        }
        long sum = 0;
        for (; sum < n; sum++) await arrived.Reader.ReadAsync();
        buffer.Writer.Complete();
        await Task.WhenAll(consumers);
        return sum;
    }

    struct Solved {
        public int By;
        public long Factor;
    }

    static async Task PrimeWorker(int number, ChannelReader<long> queries, Channel<byte[]> pool,
        ChannelWriter<Solved> answers) {
        while (await queries.WaitToReadAsync()) {
            while (queries.TryRead(out long composite)) {
                byte[] buffer = await pool.Reader.ReadAsync();
                long factor = SmallestFactorOf(composite);
                pool.Writer.TryWrite(buffer);
                answers.TryWrite(new Solved {By = number, Factor = factor});
            }
        }
    }

    static async Task<long> PrimeFactors(long n) {
        Channel<byte[]> pool = Channel.CreateUnbounded<byte[]>();
        for (int i = 0; i < PrimeBuffers; i++) pool.Writer.TryWrite(new byte[64]);
        Channel<Solved> answers = Actors.Mailbox<Solved>();
        Channel<long>[] queries = Actors.Mailboxes<long>(PrimeWorkers);
        var workers = new Task[PrimeWorkers];
        for (int i = 0; i < PrimeWorkers; i++) {
            int me = i;
            workers[i] = Task.Run(() => PrimeWorker(me, queries[me].Reader, pool, answers.Writer));
        }
        long asked = 0, sum = 0;
        for (; asked < n && asked < QueriesUnderWay; asked++)
            queries[asked % PrimeWorkers].Writer.TryWrite(Composite);
        for (long i = 0; i < n; i++) {
            Solved one = await answers.Reader.ReadAsync();
            sum += one.Factor;
            if (asked >= n) continue;
            asked++;
            queries[one.By].Writer.TryWrite(Composite);
        }
        foreach (Channel<long> inbox in queries) inbox.Writer.Complete();
        await Task.WhenAll(workers);
        return sum;
    }

    // Returns the number of hops that the node passed on. Only the first node of a ring has a
    // worker. In the other nodes `work` is null.
    static async Task<long> MixedNode(ChannelReader<long> mine, ChannelWriter<long> next,
        ChannelWriter<long> work, ChannelWriter<long> stopped) {
        long hops = 0;
        while (await mine.WaitToReadAsync()) {
            while (mine.TryRead(out long left)) {
                if (left == 0) {
                    stopped.TryWrite(left);
                    continue;
                }
                if (work != null && left % MixedActors == 0) work.TryWrite(Composite);
                hops++;
                next.TryWrite(left - 1);
            }
        }
        work?.Complete();
        return hops;
    }

    static async Task<bool> Factorise(ChannelReader<long> mine) {
        bool right = true;
        while (await mine.WaitToReadAsync())
            while (mine.TryRead(out long composite))
                right &= SmallestFactorOf(composite) == SmallestFactor;
        return right;
    }

    static async Task<long> MixedScenario(long n) {
        const int actors = MixedRings * MixedActors;
        Channel<long> stopped = Actors.Mailbox<long>();
        Channel<long>[] mail = Actors.Mailboxes<long>(actors);
        Channel<long>[] work = Actors.Mailboxes<long>(MixedRings);
        var nodes = new Task<long>[actors];
        var workers = new Task<bool>[MixedRings];
        for (int i = 0; i < actors; i++) {
            int me = i, ring = i / MixedActors;
            int next = (i + 1) % MixedActors == 0 ? ring * MixedActors : i + 1;
            ChannelWriter<long> helper = i % MixedActors == 0 ? work[ring].Writer : null;
            if (helper != null) workers[ring] = Task.Run(() => Factorise(work[ring].Reader));
            nodes[i] = Task.Run(
                () => MixedNode(mail[me].Reader, mail[next].Writer, helper, stopped.Writer));
        }
        for (int ring = 0; ring < MixedRings; ring++)
            mail[ring * MixedActors].Writer.TryWrite(n / MixedRings);
        for (int ring = 0; ring < MixedRings; ring++) await stopped.Reader.ReadAsync();
        foreach (Channel<long> one in mail) one.Writer.Complete();
        long sum = 0;
        foreach (long hops in await Task.WhenAll(nodes)) sum += hops;
        foreach (bool right in await Task.WhenAll(workers))
            if (!right) return -1;
        return sum;
    }
}
