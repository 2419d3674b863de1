// SPDX-License-Identifier: Apache-2.0
//! tokio: a task for each fiber, its bounded `mpsc` as channel. It has no rendezvous: the sender waits for an answer to
//! each message, as in Erlang's port.

use lab::fibers::{main as program, Fibers};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, Semaphore};
use tokio::task::{spawn, yield_now, JoinHandle};

struct Tokio(Runtime);

fn node(above: mpsc::Sender<u64>, first: u64, leaves: u64) {
    spawn(async move {
        let sum = if leaves == 1 { first } else { children(first, leaves / 10).await };
        above.send(sum).await.expect("somebody receives");
    });
}

async fn children(first: u64, part: u64) -> u64 {
    let (above, mut below) = mpsc::channel(10);
    for i in 0..10 {
        node(above.clone(), first + i * part, part);
    }
    let mut sum = 0;
    for _ in 0..10 {
        sum += below.recv().await.expect("ten children send");
    }
    sum
}

async fn skynet(leaves: u64) -> u64 {
    let (above, mut result) = mpsc::channel(1);
    node(above, 0, leaves);
    result.recv().await.expect("the root sends")
}

async fn yields(n: u64) -> u64 {
    let half = |share: u64| -> JoinHandle<u64> {
        spawn(async move {
            for _ in 0..share {
                yield_now().await;
            }
            share
        })
    };
    let (a, b) = (half(n - n / 2), half(n / 2));
    a.await.unwrap() + b.await.unwrap()
}

async fn create(n: u64) -> u64 {
    let mut count = 0;
    for _ in 0..n {
        count += spawn(async { 1 }).await.unwrap();
    }
    count
}

async fn buffered(n: u64) -> u64 {
    let (to, mut from) = mpsc::channel(128);
    let sender = spawn(async move {
        for i in 0..n {
            to.send(i).await.expect("somebody receives");
        }
    });
    let sums = spawn(async move {
        let mut sum = 0;
        while let Some(value) = from.recv().await {
            sum += value;
        }
        sum
    });
    sender.await.unwrap();
    sums.await.unwrap()
}

async fn rendezvous(n: u64) -> u64 {
    let (to, mut from) = mpsc::channel(1);
    let taken = Arc::new(Semaphore::new(0));
    let told = taken.clone();
    let sender = spawn(async move {
        for i in 0..n {
            to.send(i).await.expect("somebody receives");
            taken.acquire().await.expect("nobody closes it").forget();
        }
    });
    let sums = spawn(async move {
        let mut sum = 0;
        while let Some(value) = from.recv().await {
            sum += value;
            told.add_permits(1);
        }
        sum
    });
    sender.await.unwrap();
    sums.await.unwrap()
}

async fn blocked(n: u64) -> u64 {
    let gate = Arc::new(Semaphore::new(0));
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let all: Vec<_> = (0..n)
        .map(|_| {
            let (gate, counts) = (gate.clone(), counts.clone());
            spawn(async move {
                counts.0.fetch_add(1, Relaxed);
                let _ = gate.acquire().await; // closed: an error, for all at once
                counts.1.fetch_add(1, Relaxed);
            })
        })
        .collect();
    while counts.0.load(Relaxed) < n {
        yield_now().await;
    }
    gate.close();
    for one in all {
        one.await.unwrap();
    }
    counts.1.load(Relaxed)
}

impl Fibers for Tokio {
    fn start(threads: usize) -> Tokio {
        Tokio(Builder::new_multi_thread().worker_threads(threads).build().expect("tokio's threads start"))
    }

    fn run(&self, workload: &str, n: u64) -> Option<u64> {
        // In a task: what block_on runs itself is not one of the workers'.
        let task = match workload {
            "skynet-channel" => self.0.spawn(skynet(n)),
            "fiber-yield" => self.0.spawn(yields(n)),
            "fiber-create" => self.0.spawn(create(n)),
            "channel-rendezvous" => self.0.spawn(rendezvous(n)),
            "channel-buffered" => self.0.spawn(buffered(n)),
            "fibers-blocked" => self.0.spawn(blocked(n)),
            _ => return None,
        };
        Some(self.0.block_on(task).unwrap())
    }
}

fn main() -> ExitCode {
    program::<Tokio>()
}
