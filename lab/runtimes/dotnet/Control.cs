// SPDX-License-Identifier: Apache-2.0
// The workloads of control. A coroutine is an iterator. A monitor is any object with its lock, with
// Monitor.Wait and Pulse, which block threads. A waiter in a monitor therefore has a thread of its
// own.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

static class Control {
    // Returns null if no workload has this name.
    public static Workload Named(string name, string size) {
        switch (name) {
            case "resume": return Workload.Counted(size, Resumed);
            case "yield": return Workload.Counted(size, Yielded);
            case "mutex": return Workload.Counted(size, Locked);
            case "create": return Workload.Counted(size, Created);
            case "monitor-1": return Workload.Counted(size, Called);
            case "signal-1": return Workload.Counted(size, Signalled);
            default: return null;
        }
    }

    // A coroutine that suspends over and over.
    static IEnumerator<long> Suspended() {
        for (long turn = 0;; turn++) yield return turn;
    }

    static Task<long> Resumed(long n) {
        long done = 0;
        using (IEnumerator<long> one = Suspended()) {
            one.MoveNext(); // runs to the first suspension
            for (; done < n; done++) one.MoveNext();
        }
        return Task.FromResult(done);
    }

    // No other task is ready.
    static async Task<long> Yielded(long n) {
        long done = 0;
        for (; done < n; done++) await Task.Yield();
        return done;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void LockAndUnlock(object mutex) {
        Monitor.Enter(mutex);
        Monitor.Exit(mutex);
    }

    static Task<long> Locked(long n) {
        var mutex = new object();
        long done = 0;
        for (; done < n; done++) LockAndUnlock(mutex);
        return Task.FromResult(done);
    }

    // A coroutine that is never resumed. There is nothing to destroy.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CreateOne() {
        using (Suspended()) {
        }
    }

    static Task<long> Created(long n) {
        long done = 0;
        for (; done < n; done++) CreateOne();
        return Task.FromResult(done);
    }

    sealed class Meeting {
        bool waiting;

        // An empty member.
        [MethodImpl(MethodImplOptions.Synchronized | MethodImplOptions.NoInlining)]
        public void Call() {}

        // Waits `times` times without leaving the monitor meanwhile. Returns the number of waits.
        public long Wait(long times) {
            lock (this) {
                long done = 0;
                for (; done < times; done++) {
                    waiting = true;
                    Monitor.Pulse(this);
                    while (waiting) Monitor.Wait(this);
                }
                return done;
            }
        }

        // Releases the waiter, once it waits. Otherwise the waiter would miss some signals.
        public void Signal() {
            lock (this) {
                while (!waiting) Monitor.Wait(this);
                waiting = false;
                Monitor.Pulse(this);
            }
        }
    }

    static Task<long> Called(long n) {
        var monitor = new Meeting();
        long done = 0;
        for (; done < n; done++) monitor.Call();
        return Task.FromResult(done);
    }

    static Task<long> Signalled(long n) {
        var monitor = new Meeting();
        long done = 0;
        var waiter = new Thread(() => done = monitor.Wait(n));
        waiter.Start();
        for (long i = 0; i < n; i++) monitor.Signal();
        waiter.Join();
        return Task.FromResult(done);
    }
}
