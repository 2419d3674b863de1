// SPDX-License-Identifier: Apache-2.0
//! crossbeam: a thread of the system for each fiber, its bounded channels, and its `select!`.

use crossbeam::channel::{bounded, select, Sender};
use lab::fibers::{each_side, main as program, ranges, Fibers};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::thread::{yield_now, Builder, JoinHandle};

struct Crossbeam {
    workers: u64,
}

/// The size of each stack in bytes.
const STACK: usize = 32 << 10;

fn start<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    Builder::new().stack_size(STACK).spawn(f).expect("the system starts a thread")
}

fn node(above: Sender<u64>, first: u64, leaves: u64) {
    start(move || {
        let sum = if leaves == 1 { first } else { children(first, leaves / 10) };
        above.send(sum).expect("a receiver exists");
    });
}

fn children(first: u64, part: u64) -> u64 {
    let (above, below) = bounded(10);
    for i in 0..10 {
        node(above.clone(), first + i * part, part);
    }
    (0..10).map(|_| below.recv().expect("ten children send")).sum()
}

fn skynet(leaves: u64) -> u64 {
    let (above, result) = bounded(1);
    node(above, 0, leaves);
    result.recv().expect("the root sends")
}

fn yields(n: u64) -> u64 {
    let half = |share: u64| {
        start(move || {
            for _ in 0..share {
                yield_now();
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

fn produce(to: Sender<u64>, first: u64, end: u64) -> JoinHandle<()> {
    start(move || {
        for i in first..end {
            to.send(i).expect("a receiver exists");
        }
    })
}

fn channel(n: u64, room: usize) -> u64 {
    let (to, from) = bounded(room);
    let sender = produce(to, 0, n);
    let sum = start(move || from.iter().sum()).join().unwrap();
    sender.join().unwrap();
    sum
}

// excerpt mpmc
fn many_to_many(n: u64, room: usize, each_side: u64) -> u64 {
    let (to, from) = bounded(room);
    let producers: Vec<_> =
        ranges(n, each_side).map(|range| produce(to.clone(), range.start, range.end)).collect();
    let consumers: Vec<_> = (0..each_side)
        .map(|_| {
            let from = from.clone();
            start(move || from.iter().sum::<u64>())
        })
        .collect();
    drop(to);
    for one in producers {
        one.join().unwrap();
    }
    consumers.into_iter().map(|one| one.join().unwrap()).sum()
}
// excerpt end

fn select_two(n: u64) -> u64 {
    let ((low, from_low), (high, from_high)) = (bounded(0), bounded(0));
    let producers = [produce(low, 0, n / 2), produce(high, n / 2, n)];
    let consumer = start(move || {
        let (mut sum, mut left) = (0, [n / 2, n - n / 2]);
        // A channel whose sender has ended is always ready. After the end of one sender, only the
        // other channel is read.
        while left[0] > 0 && left[1] > 0 {
            select! {
                recv(from_low) -> value => {
                    sum += value.expect("its sender sends");
                    left[0] -= 1
                }
                recv(from_high) -> value => {
                    sum += value.expect("its sender sends");
                    left[1] -= 1
                }
            }
        }
        sum + from_low.iter().sum::<u64>() + from_high.iter().sum::<u64>()
    });
    for one in producers {
        one.join().unwrap();
    }
    consumer.join().unwrap()
}

fn blocked(n: u64) -> u64 {
    let (gate, closed) = bounded::<()>(0);
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let all: Vec<_> = (0..n)
        .map(|_| {
            let (closed, counts) = (closed.clone(), counts.clone());
            start(move || {
                counts.0.fetch_add(1, Relaxed);
                let _ = closed.recv(); // returns an error in all threads when the gate is dropped
                counts.1.fetch_add(1, Relaxed);
            })
        })
        .collect();
    while counts.0.load(Relaxed) < n {
        yield_now();
    }
    drop(gate);
    for one in all {
        one.join().unwrap();
    }
    counts.1.load(Relaxed)
}

impl Fibers for Crossbeam {
    fn start(threads: usize) -> Crossbeam {
        Crossbeam { workers: threads as u64 }
    }

    fn run(&self, workload: &str, n: u64) -> Option<u64> {
        let half = each_side(self.workers);
        let job: &dyn Fn(u64) -> u64 = match workload {
            "skynet-channel" => &skynet,
            "fiber-yield" => &yields,
            "fiber-create" => &create,
            "channel-rendezvous" => &|n| channel(n, 0),
            "channel-buffered" => &|n| channel(n, 128),
            "fibers-blocked" => &blocked,
            "select-two" => &select_two,
            "mpmc" => &|n| many_to_many(n, 128, half),
            "mpmc-unbuffered" => &|n| many_to_many(n, 0, half),
            "mpmc-4" => &|n| many_to_many(n, 128, 4),
            "mpmc-4-unbuffered" => &|n| many_to_many(n, 0, 4),
            _ => return None,
        };
        Some(job(n))
    }
}

fn main() -> ExitCode {
    program::<Crossbeam>()
}
