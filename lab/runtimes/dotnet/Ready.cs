// SPDX-License-Identifier: Apache-2.0
// The workloads of many ready fibers: which task makes another one ready, and where it runs.
// lab/workloads/fibers describes each workload exactly, in the file of its name.
using System;
using System.Threading;
using System.Threading.Tasks;

// xorshift of Marsaglia, with equal numbers in every runtime.
struct RandomNumbers {
    ulong state;

    public RandomNumbers(long seed) { state = (ulong)(seed + 1) * 0x9E3779B97F4A7C15; }

    public int Below(uint bound) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (int)((state >> 32) % bound);
    }
}

static class Ready {
    // Returns null if no workload has this name.
    public static Workload Named(string name, string size) {
        switch (name) {
            case "cycle": return Workload.Counted(size, Cycle);
            case "churn": return Workload.Counted(size, Churn);
            case "locality": return Workload.Counted(size, n => Locality(n, false));
            case "locality-share": return Workload.Counted(size, n => Locality(n, true));
            default: return null;
        }
    }

    static SemaphoreSlim[] Semaphores(int count) {
        var all = new SemaphoreSlim[count];
        for (int i = 0; i < count; i++) all[i] = new SemaphoreSlim(0);
        return all;
    }

    // 20 rings of 5 tasks, each with a token that goes round.
    static async Task<long> Cycle(long n) {
        const int rings = 20, members = 5;
        var hops = new long[rings];
        var all = new Task[rings * members];
        for (int r = 0; r < rings; r++) {
            int ring = r;
            SemaphoreSlim[] own = Semaphores(members);
            long share = Workload.ShareOf(n, r, rings);
            for (int i = 0; i < members; i++) {
                SemaphoreSlim mine = own[i], next = own[(i + 1) % members];
                long rounds = Workload.ShareOf(share, i, members);
                all[r * members + i] = Task.Run(async () => {
                    for (long k = 0; k < rounds; k++) {
                        await mine.WaitAsync();
                        hops[ring]++; // written by the task that has the token
                        next.Release();
                    }
                });
            }
            own[0].Release();
        }
        await Task.WhenAll(all);
        long sum = 0;
        foreach (long one in hops) sum += one;
        return sum;
    }

    static async Task<long> Churn(long n) {
        const int strands = 64, spots = 16;
        SemaphoreSlim[] all = Semaphores(spots);
        async Task<long> Body(long me) {
            var chance = new RandomNumbers(me);
            long count = 0;
            for (long share = Workload.ShareOf(n, me, strands); count < share; count++) {
                SemaphoreSlim spot = all[chance.Below(spots)];
                if (count > 0 || me >= spots) spot.Release();
                await spot.WaitAsync();
            }
            foreach (SemaphoreSlim spot in all) spot.Release();
            return count;
        }
        var tasks = new Task<long>[strands];
        for (int i = 0; i < strands; i++) {
            int me = i;
            tasks[i] = Task.Run(() => Body(me));
        }
        long sum = 0;
        foreach (long one in await Task.WhenAll(tasks)) sum += one;
        return sum;
    }

    const int Words = 512;

    sealed class Strand {
        public readonly SemaphoreSlim Woken = new SemaphoreSlim(0);
        public long[] Data = new long[Words]; // its own array while it is at work
    }

    static async Task<long> Locality(long n, bool share) {
        const int strands = 64, spots = 60, touches = 64;
        var all = new Strand[strands];
        for (int i = 0; i < strands; i++) all[i] = new Strand();
        var seats = new Strand[spots];
        long left = n;
        int over = 0;
        void Touch(Strand me, ref RandomNumbers chance) {
            for (int i = 0; i < touches; i++) me.Data[chance.Below(Words)]++;
        }
        async Task Body(int number) {
            Strand me = all[number];
            var chance = new RandomNumbers(number);
            while (Interlocked.Decrement(ref left) >= 0) {
                Touch(me, ref chance);
                int seat = chance.Below(spots);
                Strand before = Interlocked.Exchange(ref seats[seat], null);
                // `before` waits or is about to wait, so this task owns its data.
                if (before != null && share) (before.Data, me.Data) = (me.Data, before.Data);
                bool sits = Interlocked.CompareExchange(ref seats[seat], me, null) == null;
                before?.Woken.Release();
                if (!sits) continue; // another task has sat down meanwhile
                if (Volatile.Read(ref over) != 0 &&
                    Interlocked.CompareExchange(ref seats[seat], null, me) == me) break;
                await me.Woken.WaitAsync();
            }
            Interlocked.Exchange(ref over, 1);
            for (int i = 0; i < spots; i++)
                Interlocked.Exchange(ref seats[i], null)?.Woken.Release();
        }
        var tasks = new Task[strands];
        for (int i = 0; i < strands; i++) {
            int me = i;
            tasks[i] = Task.Run(() => Body(me));
        }
        await Task.WhenAll(tasks);
        long sum = 0;
        foreach (Strand one in all)
            foreach (long word in one.Data) sum += word;
        return sum / touches;
    }
}
