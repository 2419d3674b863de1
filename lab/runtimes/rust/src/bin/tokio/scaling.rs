// SPDX-License-Identifier: Apache-2.0
//! The workloads that show the use of a second worker. The receiver of a tokio channel cannot be
//! shared, so the receiver of the pool's jobs is behind a mutex.

use lab::fibers::{share, work, JOBS_IN_CHANNEL, PAIRS, POOL};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, Mutex, Semaphore};
use tokio::task::{spawn, yield_now};

/// A task of the tree sends a number to its parent, and waits until the parent has taken it.
fn node(above: mpsc::Sender<u64>, taken: Arc<Semaphore>, first: u64, leaves: u64) {
    spawn(async move {
        let sum = if leaves == 1 { first } else { children(first, leaves / 10).await };
        above.send(sum).await.expect("the receiver lives");
        taken.acquire().await.expect("nobody closes it").forget();
    });
}

async fn children(first: u64, part: u64) -> u64 {
    let (above, mut below) = mpsc::channel(1);
    let taken = Arc::new(Semaphore::new(0));
    for i in 0..10 {
        node(above.clone(), taken.clone(), first + i * part, part);
    }
    let mut sum = 0;
    for _ in 0..10 {
        sum += below.recv().await.expect("ten children send");
        taken.add_permits(1);
    }
    sum
}

pub async fn skynet_rendezvous(leaves: u64) -> u64 {
    let (above, mut result) = mpsc::channel(1);
    let taken = Arc::new(Semaphore::new(0));
    node(above, taken.clone(), 0, leaves);
    let sum = result.recv().await.expect("the root sends");
    taken.add_permits(1);
    sum
}

// excerpt pairs
/// Pairs of tasks that exchange numbers. A task answers each question before the next one is put,
/// so a channel holds one number at most.
pub async fn pairs(n: u64) -> u64 {
    let all: Vec<_> = (0..PAIRS)
        .map(|pair| {
            let share = share(n, PAIRS, pair);
            let (there, mut questions) = mpsc::channel(1);
            let (back, mut replies) = mpsc::channel(1);
            spawn(async move {
                while let Some(value) = questions.recv().await {
                    back.send(value + 1).await.expect("the receiver lives");
                }
            });
            spawn(async move {
                let mut right = 0;
                for i in 0..share {
                    there.send(i).await.expect("the receiver lives");
                    right += u64::from(replies.recv().await == Some(i + 1));
                }
                right
            })
        })
        .collect();
    let mut right = 0;
    for one in all {
        right += one.await.unwrap();
    }
    right
}
// excerpt end

// excerpt mutex-each
async fn mutex_loop(share: u64) -> u64 {
    let own = Mutex::new(0);
    let mut right = 0;
    for i in 0..share {
        let mut count = own.lock().await;
        right += u64::from(*count == i);
        *count += 1;
    }
    right
}
// excerpt end

// excerpt channel-each
async fn channel_loop(share: u64) -> u64 {
    let (to, mut from) = mpsc::channel(128);
    let mut right = 0;
    for i in 0..share {
        to.send(i).await.expect("the channel has room");
        right += u64::from(from.recv().await == Some(i));
    }
    right
}
// excerpt end

/// A task for each worker.
pub async fn mutex_each(n: u64) -> u64 {
    let workers = Handle::current().metrics().num_workers() as u64;
    let all: Vec<_> = (0..workers).map(|i| spawn(mutex_loop(share(n, workers, i)))).collect();
    let mut right = 0;
    for one in all {
        right += one.await.unwrap();
    }
    right
}

pub async fn channel_each(n: u64) -> u64 {
    let workers = Handle::current().metrics().num_workers() as u64;
    let all: Vec<_> = (0..workers).map(|i| spawn(channel_loop(share(n, workers, i)))).collect();
    let mut right = 0;
    for one in all {
        right += one.await.unwrap();
    }
    right
}

// excerpt fiber-create-block
pub async fn create_block(n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        let (to, number) = oneshot::channel();
        let one = spawn(async { number.await.expect("its parent sends") });
        yield_now().await; // it begins, and blocks
        to.send(i).expect("the receiver lives");
        sum += one.await.unwrap();
    }
    sum
}
// excerpt end

// excerpt pool
pub async fn pool(n: u64, steps: u64) -> u64 {
    let (to_pool, jobs) = mpsc::channel(JOBS_IN_CHANNEL);
    let (to_us, mut results) = mpsc::channel(JOBS_IN_CHANNEL);
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..POOL {
        let (jobs, results) = (jobs.clone(), to_us.clone());
        spawn(async move {
            loop {
                let Some(job) = jobs.lock().await.recv().await else { return };
                results.send(work(job, steps)).await.expect("the receiver lives");
            }
        });
    }
    spawn(async move {
        for job in 0..n {
            to_pool.send(job).await.expect("the pool receives");
        }
    });
    let mut sum = 0;
    for _ in 0..n {
        sum += results.recv().await.expect("the pool sends");
    }
    sum
}
// excerpt end
