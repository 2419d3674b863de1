// SPDX-License-Identifier: Apache-2.0
// The workloads of actors. An actor is a task that reads a channel of its own, its mailbox, until
// the channel is completed. lab/workloads/actors/sizes.hpp describes each workload exactly.
using System;
using System.Threading.Channels;
using System.Threading.Tasks;

static class Actors {
    const int RingActors = 503, Senders = 20, WorkTokens = 64;

    // Returns null if no workload has this name.
    public static Workload Named(string name, string size) {
        switch (name) {
            case "thread-ring":
                return Messages(size, 1, n => n % RingActors + 1, n => Ring(1, n, 0));
            case "parallel-thread-ring": return Messages(size, RingActors, n => n, ParallelRing);
            case "ping-pong": return Messages(size, 1, n => n, PingPong);
            case "counting-actor":
                return Messages(
                    size, 1, n => n * (n - 1) / 2, n => Fibers.SendAndAdd(Mailbox<long>(), n));
            case "skynet-actor": return Fibers.Named("skynet-channel", size);
            case "fan-in": return Messages(size, Senders, n => n, FanIn);
            case "spawn-storm": return Messages(size, 1, n => n, Storm);
            case "ring-work": return Messages(size, WorkTokens, n => n, RingWork);
            default: return null;
        }
    }

    // A workload of n messages, where n is rounded up to a multiple of the parts.
    public static Workload Messages(
        string size, long parts, Func<long, long> answer, Func<long, Task<long>> run) {
        long given = Workload.Number("size", size, 1, Workload.MostOperations);
        long n = (given + parts - 1) / parts * parts;
        return new Workload(() => run(n), answer(n), n);
    }

    // Senders never wait.
    public static Channel<T> Mailbox<T>() =>
        Channel.CreateUnbounded<T>(new UnboundedChannelOptions {SingleReader = true});

    public static Channel<T>[] Mailboxes<T>(int count) {
        var all = new Channel<T>[count];
        for (int i = 0; i < count; i++) all[i] = Mailbox<T>();
        return all;
    }

    // A seed of 0 stands for no work.
    struct Token {
        public long Hops;
        public ulong Seed;
    }

    static ulong SomeWork(ulong seed) {
        for (int i = 0; i < 530; i++)
            seed = (seed ^ seed >> 33) * 6364136223846793005 + 1442695040888963407;
        return seed;
    }

    static async Task Node(long number, ChannelReader<Token> mine, ChannelWriter<Token> next,
        ChannelWriter<long> stopped) {
        while (await mine.WaitToReadAsync()) {
            while (mine.TryRead(out Token token)) {
                if (token.Hops == 0) {
                    stopped.TryWrite(number);
                    continue;
                }
                token.Hops--;
                if (token.Seed != 0) token.Seed = SomeWork(token.Seed) | 1;
                next.TryWrite(token);
            }
        }
    }

    // Sends tokens around 503 actors, from evenly spread actors. Returns the sum of the numbers of
    // the actors that have the tokens last.
    static async Task<long> Ring(int tokens, long hops, ulong firstSeed) {
        Channel<Token>[] mail = Mailboxes<Token>(RingActors);
        Channel<long> stopped = Mailbox<long>();
        var all = new Task[RingActors];
        for (int i = 0; i < RingActors; i++) {
            int me = i;
            Channel<Token> next = mail[(me + 1) % RingActors];
            all[i] = Task.Run(() => Node(me + 1, mail[me].Reader, next.Writer, stopped.Writer));
        }
        for (int i = 0; i < tokens; i++) {
            var token = new Token {Hops = hops, Seed = firstSeed == 0 ? 0 : firstSeed + (ulong)i};
            mail[i * RingActors / tokens].Writer.TryWrite(token);
        }
        long sum = 0;
        for (int i = 0; i < tokens; i++) sum += await stopped.Reader.ReadAsync();
        foreach (Channel<Token> one in mail) one.Writer.Complete();
        await Task.WhenAll(all);
        return sum;
    }

    static async Task<long> ParallelRing(long n) =>
        await Ring(RingActors, n / RingActors, 0) == RingActors * (RingActors + 1) / 2 ? n : -1;

    static async Task<long> RingWork(long n) {
        long hops = n / WorkTokens, expected = 0;
        for (long i = 0; i < WorkTokens; i++)
            expected += (i * RingActors / WorkTokens + hops) % RingActors + 1;
        return await Ring(WorkTokens, hops, 1) == expected ? n : -1;
    }

    // The number of messages left, and the address for the answer.
    struct Ball {
        public long Left;
        public ChannelWriter<Ball> From;
    }

    static async Task<long> Play(Channel<Ball> mine) {
        long sent = 0;
        while (true) {
            Ball ball = await mine.Reader.ReadAsync();
            if (ball.Left > 0) {
                sent++;
                ball.From.TryWrite(new Ball {Left = ball.Left - 1, From = mine.Writer});
            }
            if (ball.Left <= 1) return sent;
        }
    }

    static async Task<long> PingPong(long n) {
        Channel<Ball> a = Mailbox<Ball>(), b = Mailbox<Ball>();
        Task<long> first = Task.Run(() => Play(a)), second = Task.Run(() => Play(b));
        b.Writer.TryWrite(new Ball {Left = n, From = a.Writer});
        return await first + await second;
    }

    static async Task<long> FanIn(long n) {
        Channel<long> mail = Mailbox<long>();
        for (int i = 0; i < Senders; i++) {
            _ = Task.Run(() => {
                for (long left = n / Senders; left > 0; left--) mail.Writer.TryWrite(left);
            });
        }
        return await Task.Run(async () => {
            long seen = 0;
            for (; seen < n; seen++) await mail.Reader.ReadAsync();
            return seen;
        });
    }

    static async Task Live(Channel<long> mine, long last, ChannelWriter<long> done) {
        long number = await mine.Reader.ReadAsync();
        if (number == last) {
            done.TryWrite(number);
            return;
        }
        Channel<long> next = Mailbox<long>();
        _ = Task.Run(() => Live(next, last, done));
        next.Writer.TryWrite(number + 1);
    }

    static async Task<long> Storm(long n) {
        Channel<long> first = Mailbox<long>(), done = Mailbox<long>();
        _ = Task.Run(() => Live(first, n, done.Writer));
        first.Writer.TryWrite(1);
        return await done.Reader.ReadAsync();
    }
}
