// SPDX-License-Identifier: Apache-2.0
//! tokio: a task for each fiber, and its bounded `mpsc` as channel. It has no rendezvous: the
//! sender waits for an answer to each message, as in Erlang's port. It has no condition variable:
//! `Notify` wakes a waiting task, or the next task that waits.

#[path = "tokio/beside.rs"]
mod beside;
#[path = "tokio/files.rs"]
mod files;
#[path = "tokio/io.rs"]
mod io;
#[path = "tokio/scaling.rs"]
mod scaling;
#[path = "tokio/traffic.rs"]
mod traffic;

use lab::fibers::{each_side, main as program, nap, share, Fibers, Lateness};
use std::future::{poll_fn, Future};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Lock};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, Mutex, Notify, Semaphore};
use tokio::task::{spawn, yield_now, JoinHandle};
use tokio::time::{sleep, timeout};

struct Tokio {
    runtime: Runtime,
    late: Arc<Lock<Option<Lateness>>>, // of the last run of timer-lateness
    told: Arc<Lock<String>>,           // the figures of the last run beside long tasks
}

// excerpt skynet-channel
fn node(above: mpsc::Sender<u64>, first: u64, leaves: u64) {
    spawn(async move {
        let sum = if leaves == 1 { first } else { children(first, leaves / 10).await };
        above.send(sum).await.expect("a receiver exists");
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
// excerpt end

async fn skynet(leaves: u64) -> u64 {
    let (above, mut result) = mpsc::channel(1);
    node(above, 0, leaves);
    result.recv().await.expect("the root sends")
}

// excerpt fiber-yield
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
// excerpt end

// excerpt fiber-create
async fn create(n: u64) -> u64 {
    let mut count = 0;
    for _ in 0..n {
        count += spawn(async { 1 }).await.unwrap();
    }
    count
}
// excerpt end

// excerpt channel-buffered
async fn buffered(n: u64) -> u64 {
    let (to, mut from) = mpsc::channel(128);
    let sender = spawn(async move {
        for i in 0..n {
            to.send(i).await.expect("a receiver exists");
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
// excerpt end

// excerpt channel-rendezvous
/// Sends numbers. The receiver takes each number before the next one is sent: it adds a permit for
/// each number that it has taken.
fn sender(numbers: std::ops::Range<u64>) -> (JoinHandle<()>, mpsc::Receiver<u64>, Arc<Semaphore>) {
    let (to, from) = mpsc::channel(1);
    let taken = Arc::new(Semaphore::new(0));
    let told = taken.clone();
    let sends = spawn(async move {
        for i in numbers {
            to.send(i).await.expect("a receiver exists");
            taken.acquire().await.expect("no task closes the semaphore").forget();
        }
    });
    (sends, from, told)
}

async fn rendezvous(n: u64) -> u64 {
    let (sends, mut from, told) = sender(0..n);
    let sums = spawn(async move {
        let mut sum = 0;
        while let Some(value) = from.recv().await {
            sum += value;
            told.add_permits(1);
        }
        sum
    });
    sends.await.unwrap();
    sums.await.unwrap()
}
// excerpt end

// excerpt select-two
/// Does the work of `select!`: takes from the channel that is ready. It begins with either channel
/// in turn, where `select!` would begin with a random one.
async fn select_two(n: u64) -> u64 {
    let (low, mut a, told_a) = sender(0..n / 2);
    let (high, mut b, told_b) = sender(n / 2..n);
    let consumer = spawn(async move {
        let mut sum = 0;
        for i in 0..n {
            let (value, told) = poll_fn(|context| {
                for which in [i % 2, 1 - i % 2] {
                    let (from, told) =
                        if which == 0 { (&mut a, &told_a) } else { (&mut b, &told_b) };
                    if let Poll::Ready(Some(value)) = from.poll_recv(context) {
                        return Poll::Ready((value, told));
                    }
                }
                Poll::Pending
            })
            .await;
            told.add_permits(1);
            sum += value;
        }
        sum
    });
    low.await.unwrap();
    high.await.unwrap();
    consumer.await.unwrap()
}
// excerpt end

// excerpt mutex
async fn locked(fibers: u64, n: u64) -> u64 {
    let count = Arc::new(Mutex::new(0));
    let all: Vec<_> = (0..fibers)
        .map(|i| {
            let count = count.clone();
            spawn(async move {
                for _ in 0..share(n, fibers, i) {
                    *count.lock().await += 1;
                }
            })
        })
        .collect();
    for one in all {
        one.await.unwrap();
    }
    let answer = *count.lock().await;
    answer
}
// excerpt end

// excerpt condition
async fn turns(n: u64) -> u64 {
    // The index of the task whose turn it is, and the number of turns so far.
    let shared = Arc::new((Mutex::new((0, 0)), [Notify::new(), Notify::new()]));
    let both = [0, 1].map(|me| {
        let shared = shared.clone();
        spawn(async move {
            for _ in 0..share(n, 2, me as u64) {
                let mut now = shared.0.lock().await;
                while now.0 != me {
                    drop(now);
                    shared.1[me].notified().await;
                    now = shared.0.lock().await;
                }
                *now = (1 - me, now.1 + 1);
                shared.1[1 - me].notify_one();
            }
        })
    });
    for one in both {
        one.await.unwrap();
    }
    let answer = shared.0.lock().await.1;
    answer
}
// excerpt end

// excerpt sleepers
async fn slept(n: u64) -> u64 {
    let all: Vec<_> = (0..n).map(|i| spawn(sleep(nap(i)))).collect();
    let mut woken = 0;
    for one in all {
        one.await.unwrap();
        woken += 1;
    }
    woken
}
// excerpt end

async fn timer_lateness(n: u64, told: Arc<Lock<Option<Lateness>>>) -> u64 {
    let mut late = Lateness::default();
    for i in 0..n {
        let pause = Lateness::pause(i);
        let due = Instant::now() + pause;
        sleep(pause).await;
        late.add(due);
    }
    let count = late.count();
    *told.lock().unwrap() = Some(late);
    count
}

async fn blocked(n: u64) -> u64 {
    crew(n, |gate| async move { gate.acquire().await.is_err() }).await
}

async fn timers_cancelled(n: u64) -> u64 {
    let limit = Duration::from_secs(3600);
    crew(n, move |gate| async move { timeout(limit, gate.acquire()).await.is_ok() }).await
}

// excerpt crew
/// `n` tasks wait at one gate before it is closed, which wakes all of them with an error. Returns
/// the number of calls of `wait` that returned true.
async fn crew<F: Future<Output = bool> + Send>(
    n: u64,
    wait: impl Fn(Arc<Semaphore>) -> F + Copy + Send + 'static,
) -> u64 {
    let gate = Arc::new(Semaphore::new(0));
    let counts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let all: Vec<_> = (0..n)
        .map(|_| {
            let (gate, counts) = (gate.clone(), counts.clone());
            spawn(async move {
                counts.0.fetch_add(1, Relaxed);
                if wait(gate).await {
                    counts.1.fetch_add(1, Relaxed);
                }
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
// excerpt end

impl Fibers for Tokio {
    fn start(threads: usize) -> Tokio {
        let mut builder = Builder::new_multi_thread();
        let runtime =
            builder.worker_threads(threads).enable_time().build().expect("tokio's threads start");
        Tokio { runtime, late: Arc::default(), told: Arc::default() }
    }

    fn run(&self, workload: &str, n: u64) -> Option<u64> {
        // The work runs in a task, because block_on runs its own future outside the workers.
        let half = each_side(self.runtime.metrics().num_workers() as u64);
        let task = match workload {
            "skynet-channel" => self.runtime.spawn(skynet(n)),
            "fiber-yield" | "task-switch" => self.runtime.spawn(yields(n)),
            "fiber-create" | "task-spawn" => self.runtime.spawn(create(n)),
            "channel-rendezvous" => self.runtime.spawn(rendezvous(n)),
            "channel-buffered" => self.runtime.spawn(buffered(n)),
            "fibers-blocked" | "tasks-blocked" => self.runtime.spawn(blocked(n)),
            "mutex-free" => self.runtime.spawn(locked(1, n)),
            "mutex-contended" => self.runtime.spawn(locked(4, n)),
            "condition" => self.runtime.spawn(turns(n)),
            "sleepers" => self.runtime.spawn(slept(n)),
            "timer-lateness" => self.runtime.spawn(timer_lateness(n, self.late.clone())),
            "timers-cancelled" => self.runtime.spawn(timers_cancelled(n)),
            "select-two" => self.runtime.spawn(select_two(n)),
            "skynet-rendezvous" => self.runtime.spawn(scaling::skynet_rendezvous(n)),
            "skynet-receive" => self.runtime.spawn(skynet(n)), // It receives, and joins nothing.
            "pairs" => self.runtime.spawn(scaling::pairs(n)),
            "mutex-each" => self.runtime.spawn(scaling::mutex_each(n)),
            "channel-each" => self.runtime.spawn(scaling::channel_each(n)),
            "fiber-create-block" => self.runtime.spawn(scaling::create_block(n)),
            "pool-0" => self.runtime.spawn(scaling::pool(n, 0)),
            "pool-200ns" => self.runtime.spawn(scaling::pool(n, 100)),
            "pool-1us" => self.runtime.spawn(scaling::pool(n, 500)),
            "pool-5us" => self.runtime.spawn(scaling::pool(n, 2500)),
            "io-files-1" => self.runtime.spawn(files::reads(1, n)),
            "io-files-16" => self.runtime.spawn(files::reads(16, n)),
            "mpmc" => self.runtime.spawn(traffic::many_to_many(n, 128, half)),
            "mpmc-4" => self.runtime.spawn(traffic::many_to_many(n, 128, 4)),
            "beside-spawn" => self.runtime.spawn(beside::spawn_to_begin(n, self.told.clone())),
            "beside-reply" => self.runtime.spawn(beside::request_to_reply(n, self.told.clone())),
            _ => return None,
        };
        Some(self.runtime.block_on(task).unwrap())
    }

    fn serve(workload: &str, threads: usize) -> Option<Result<(), String>> {
        io::serve(workload, threads)
    }

    fn extra(&self) -> String {
        let late = self.late.lock().unwrap().take().map_or(String::new(), Lateness::text);
        late + &self.told.lock().unwrap()
    }
}

fn main() -> ExitCode {
    program::<Tokio>()
}
