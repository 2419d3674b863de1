// SPDX-License-Identifier: Apache-2.0
//! may: a coroutine with a stack of its own for each fiber, its unbounded `mpsc` as channel, with a semaphore of credit
//! where a channel has a bound.

use lab::fibers::{main as program, Fibers};
use may::coroutine::{self, JoinHandle};
use may::sync::{mpsc, Semphore};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

struct May;

/// Bytes of each stack: 16 KiB, as Sennit's where very many are blocked.
const STACK_WORDS: usize = 2048;

fn start<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    // SAFETY: may asks for it because a coroutine that uses thread-locals, or overflows its stack, is undefined; these
    // do neither.
    unsafe { coroutine::Builder::new().stack_size(STACK_WORDS).spawn(f).expect("may starts a coroutine") }
}

fn node(above: mpsc::Sender<u64>, first: u64, leaves: u64) {
    start(move || {
        let sum = if leaves == 1 { first } else { children(first, leaves / 10) };
        above.send(sum).expect("somebody receives");
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

/// `room` pieces may be under way at once.
fn channel(n: u64, room: usize) -> u64 {
    let (to, from) = mpsc::channel();
    let credit = Arc::new(Semphore::new(room));
    let back = credit.clone();
    let sender = start(move || {
        for i in 0..n {
            credit.wait();
            to.send(i).expect("somebody receives");
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

fn blocked(n: u64) -> u64 {
    let gate = Arc::new(Semphore::new(0));
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let all: Vec<_> = (0..n)
        .map(|_| {
            let (gate, counts) = (gate.clone(), counts.clone());
            start(move || {
                counts.0.fetch_add(1, Relaxed);
                gate.wait();
                counts.1.fetch_add(1, Relaxed);
            })
        })
        .collect();
    while counts.0.load(Relaxed) < n {
        coroutine::yield_now();
    }
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
        May
    }

    fn run(&self, workload: &str, n: u64) -> Option<u64> {
        let job: fn(u64) -> u64 = match workload {
            "skynet-channel" => skynet,
            "fiber-yield" => yields,
            "fiber-create" => create,
            "channel-rendezvous" => |n| channel(n, 1),
            "channel-buffered" => |n| channel(n, 128),
            "fibers-blocked" => blocked,
            _ => return None,
        };
        Some(start(move || job(n)).join().unwrap())
    }
}

fn main() -> ExitCode {
    program::<May>()
}
