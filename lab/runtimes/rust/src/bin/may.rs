// SPDX-License-Identifier: Apache-2.0
//! may: a coroutine with a stack of its own for each fiber, and its unbounded `mpsc` as channel. A
//! semaphore of credit bounds a channel.

#[path = "may/scaling.rs"]
mod scaling;
#[path = "may/traffic.rs"]
mod traffic;

use lab::fibers::{each_side, main as program, nap, share, Fibers};
use may::coroutine::{self, JoinHandle};
use may::sync::{mpsc, Condvar, Mutex, Semphore};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

struct May {
    workers: u64,
}

/// The size of each stack in words: 16 KiB, as in Sennit's program where very many fibers block.
const STACK_WORDS: usize = 2048;

fn start<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    // SAFETY: `spawn` is unsafe because a coroutine that uses thread-locals or overflows its stack
    // is undefined. The coroutines of this program do neither.
    unsafe {
        coroutine::Builder::new().stack_size(STACK_WORDS).spawn(f).expect("may starts a coroutine")
    }
}

fn node(above: mpsc::Sender<u64>, first: u64, leaves: u64) {
    start(move || {
        let sum = if leaves == 1 { first } else { children(first, leaves / 10) };
        above.send(sum).expect("a receiver exists");
    });
}

fn children(first: u64, part: u64) -> u64 {
    let (above, below) = mpsc::channel();
    for i in 0..10 {
        node(above.clone(), first + i * part, part);
    }
    (0..10).map(|_| below.recv().expect("ten children send")).sum()
}

fn skynet(leaves: u64) -> u64 {
    let (above, result) = mpsc::channel();
    node(above, 0, leaves);
    result.recv().expect("the root sends")
}

fn yields(n: u64) -> u64 {
    let half = |share: u64| {
        start(move || {
            for _ in 0..share {
                coroutine::yield_now();
            }
            share
        })
    };
    let (a, b) = (half(n - n / 2), half(n / 2));
    a.join().unwrap() + b.join().unwrap()
}

fn create(n: u64) -> u64 {
    (0..n).map(|_| start(|| 1).join().unwrap()).sum()
}

/// At most `room` messages are under way at the same time.
fn channel(n: u64, room: usize) -> u64 {
    let (to, from) = mpsc::channel();
    let credit = Arc::new(Semphore::new(room));
    let back = credit.clone();
    let sender = start(move || {
        for i in 0..n {
            credit.wait();
            to.send(i).expect("a receiver exists");
        }
    });
    let sums = start(move || {
        let mut sum = 0;
        while let Ok(value) = from.recv() {
            sum += value;
            back.post();
        }
        sum
    });
    sender.join().unwrap();
    sums.join().unwrap()
}

fn locked(fibers: u64, n: u64) -> u64 {
    let count = Arc::new(Mutex::new(0));
    let all: Vec<_> = (0..fibers)
        .map(|i| {
            let count = count.clone();
            start(move || {
                for _ in 0..share(n, fibers, i) {
                    *count.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for one in all {
        one.join().unwrap();
    }
    let answer = *count.lock().unwrap();
    answer
}

fn turns(n: u64) -> u64 {
    // The index of the coroutine whose turn it is, and the number of turns so far.
    let shared = Arc::new((Mutex::new((0, 0)), [Condvar::new(), Condvar::new()]));
    let both = [0, 1].map(|me| {
        let shared = shared.clone();
        start(move || {
            let mut now = shared.0.lock().unwrap();
            for _ in 0..share(n, 2, me as u64) {
                while now.0 != me {
                    now = shared.1[me].wait(now).unwrap();
                }
                *now = (1 - me, now.1 + 1);
                shared.1[1 - me].notify_one();
            }
        })
    });
    for one in both {
        one.join().unwrap();
    }
    let answer = shared.0.lock().unwrap().1;
    answer
}

fn slept(n: u64) -> u64 {
    let all: Vec<_> = (0..n).map(|i| start(move || coroutine::sleep(nap(i)))).collect();
    all.into_iter().map(|one| one.join().map_or(0, |()| 1)).sum()
}

fn blocked(n: u64) -> u64 {
    crew(n, |gate| {
        gate.wait();
        true
    })
}

fn timers_cancelled(n: u64) -> u64 {
    crew(n, |gate| gate.wait_timeout(Duration::from_secs(3600)))
}

/// `n` coroutines wait at one gate before it is opened for each of them. Returns the number of
/// calls of `wait` that returned true. The last coroutine to arrive reports that all are there. A
/// main coroutine that polled and yielded instead would be the only one to run with one worker.
fn crew(n: u64, wait: fn(&Semphore) -> bool) -> u64 {
    let gate = Arc::new(Semphore::new(0));
    let all_here = Arc::new(Semphore::new(0));
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let all: Vec<_> = (0..n)
        .map(|_| {
            let (gate, all_here, counts) = (gate.clone(), all_here.clone(), counts.clone());
            start(move || {
                if counts.0.fetch_add(1, Relaxed) + 1 == n {
                    all_here.post();
                }
                if wait(&gate) {
                    counts.1.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    all_here.wait();
    for _ in 0..n {
        gate.post();
    }
    for one in all {
        one.join().unwrap();
    }
    counts.1.load(Relaxed)
}

impl Fibers for May {
    fn start(threads: usize) -> May {
        may::config().set_workers(threads);
        May { workers: threads as u64 }
    }

    fn run(&self, workload: &str, n: u64) -> Option<u64> {
        let workers = self.workers;
        let of_each: Option<fn(u64, u64) -> u64> = match workload {
            "mutex-each" => Some(scaling::mutex_each),
            "channel-each" => Some(scaling::channel_each),
            "mpmc" => Some(|n, workers| traffic::many_to_many(n, each_side(workers))),
            _ => None,
        };
        if let Some(job) = of_each {
            return Some(start(move || job(n, workers)).join().unwrap());
        }
        let job: fn(u64) -> u64 = match workload {
            "skynet-channel" => skynet,
            "fiber-yield" => yields,
            "fiber-create" => create,
            "channel-rendezvous" => |n| channel(n, 1),
            "channel-buffered" => |n| channel(n, 128),
            "fibers-blocked" => blocked,
            "mutex-free" => |n| locked(1, n),
            "mutex-contended" => |n| locked(4, n),
            "condition" => turns,
            "sleepers" => slept,
            "timers-cancelled" => timers_cancelled,
            "skynet-rendezvous" => scaling::skynet_rendezvous,
            "skynet-receive" => skynet, // It receives, and joins nothing.
            "pairs" => scaling::pairs,
            "fiber-create-block" => scaling::create_block,
            "pool-0" => |n| scaling::pool(n, 0),
            "pool-200ns" => |n| scaling::pool(n, 100),
            "pool-1us" => |n| scaling::pool(n, 500),
            "pool-5us" => |n| scaling::pool(n, 2500),
            "mpmc-4" => |n| traffic::many_to_many(n, 4),
            _ => return None,
        };
        Some(start(move || job(n)).join().unwrap())
    }
}

fn main() -> ExitCode {
    program::<May>()
}
