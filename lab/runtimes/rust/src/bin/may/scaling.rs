// SPDX-License-Identifier: Apache-2.0
//! The workloads that show the use of a second worker. may's channels have no bound: a semaphore
//! has as many permits as a channel has room. In a rendezvous the sender waits for a permit after
//! each message.

use crate::start;
use lab::fibers::{share, work, JOBS_IN_CHANNEL, PAIRS, POOL};
use may::coroutine::yield_now;
use may::sync::{mpmc, mpsc, Mutex, Semphore};
use std::sync::Arc;

fn node(above: mpsc::Sender<u64>, taken: Arc<Semphore>, first: u64, leaves: u64) {
    start(move || {
        let sum = if leaves == 1 { first } else { children(first, leaves / 10) };
        above.send(sum).expect("the receiver lives");
        taken.wait();
    });
}

fn children(first: u64, part: u64) -> u64 {
    let (above, below) = mpsc::channel();
    let taken = Arc::new(Semphore::new(0));
    for i in 0..10 {
        node(above.clone(), taken.clone(), first + i * part, part);
    }
    let mut sum = 0;
    for _ in 0..10 {
        sum += below.recv().expect("ten children send");
        taken.post();
    }
    sum
}

pub fn skynet_rendezvous(leaves: u64) -> u64 {
    let (above, result) = mpsc::channel();
    let taken = Arc::new(Semphore::new(0));
    node(above, taken.clone(), 0, leaves);
    let sum = result.recv().expect("the root sends");
    taken.post();
    sum
}

/// Pairs of coroutines that exchange numbers. A question is answered before the next one is put.
pub fn pairs(n: u64) -> u64 {
    let all: Vec<_> = (0..PAIRS)
        .map(|pair| {
            let share = share(n, PAIRS, pair);
            let (there, questions) = mpsc::channel();
            let (back, replies) = mpsc::channel();
            start(move || {
                while let Ok(value) = questions.recv() {
                    let value: u64 = value;
                    back.send(value + 1).expect("the receiver lives");
                }
            });
            start(move || {
                let mut right = 0;
                for i in 0..share {
                    there.send(i).expect("the receiver lives");
                    right += u64::from(replies.recv() == Ok(i + 1));
                }
                right
            })
        })
        .collect();
    all.into_iter().map(|one| one.join().unwrap()).sum()
}

/// A coroutine for each worker.
fn each(n: u64, workers: u64, body: fn(u64) -> u64) -> u64 {
    let all: Vec<_> = (0..workers)
        .map(|i| {
            let share = share(n, workers, i);
            start(move || body(share))
        })
        .collect();
    all.into_iter().map(|one| one.join().unwrap()).sum()
}

pub fn mutex_each(n: u64, workers: u64) -> u64 {
    each(n, workers, |share| {
        let own = Mutex::new(0);
        let mut right = 0;
        for i in 0..share {
            let mut count = own.lock().unwrap();
            right += u64::from(*count == i);
            *count += 1;
        }
        right
    })
}

pub fn channel_each(n: u64, workers: u64) -> u64 {
    each(n, workers, |share| {
        let (to, from) = mpsc::channel();
        let room = Semphore::new(128);
        let mut right = 0;
        for i in 0..share {
            room.wait();
            to.send(i).expect("the receiver lives");
            right += u64::from(from.recv() == Ok(i));
            room.post();
        }
        right
    })
}

pub fn create_block(n: u64) -> u64 {
    let (to, numbers) = mpmc::channel::<u64>();
    let mut sum = 0;
    for i in 0..n {
        let numbers = numbers.clone();
        let one = start(move || numbers.recv().expect("its parent sends"));
        yield_now(); // it begins, and blocks
        to.send(i).expect("the receiver lives");
        sum += one.join().unwrap();
    }
    sum
}

pub fn pool(n: u64, steps: u64) -> u64 {
    let (to_pool, jobs) = mpmc::channel::<Option<u64>>();
    let (to_us, results) = mpsc::channel();
    let room = Arc::new((Semphore::new(JOBS_IN_CHANNEL), Semphore::new(JOBS_IN_CHANNEL)));
    for _ in 0..POOL {
        let (jobs, to_us, room) = (jobs.clone(), to_us.clone(), room.clone());
        start(move || {
            while let Ok(Some(job)) = jobs.recv() {
                room.0.post();
                room.1.wait();
                to_us.send(work(job, steps)).expect("the receiver lives");
            }
        });
    }
    let has_room = room.clone();
    start(move || {
        for job in (0..n).map(Some).chain((0..POOL).map(|_| None)) {
            has_room.0.wait();
            to_pool.send(job).expect("the pool receives");
        }
    });
    let mut sum = 0;
    for _ in 0..n {
        sum += results.recv().expect("the pool sends");
        room.1.post();
    }
    sum
}
