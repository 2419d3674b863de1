// SPDX-License-Identifier: Apache-2.0
//! Short tasks beside long ones. A timer of tokio has whole milliseconds, so a pause of 1 to 2 ms
//! may take up to 3; no pause is part of a figure.

use lab::fibers::{beside_text, xorshift, Lateness, LONG_STEPS};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Lock};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::{spawn, yield_now, JoinHandle};
use tokio::time::sleep;

/// Twice as many long tasks as workers.
struct LongTasks {
    over: Arc<AtomicBool>,
    all: Vec<JoinHandle<()>>,
}

impl LongTasks {
    fn start() -> LongTasks {
        let over = Arc::new(AtomicBool::new(false));
        let all = (0..2 * Handle::current().metrics().num_workers())
            .map(|_| {
                let over = over.clone();
                spawn(async move {
                    let mut state = 1;
                    while !over.load(Relaxed) {
                        state = black_box(xorshift(state, LONG_STEPS));
                        yield_now().await;
                    }
                })
            })
            .collect();
        LongTasks { over, all }
    }
    async fn end(self) {
        self.over.store(true, Relaxed);
        for one in self.all {
            one.await.unwrap();
        }
    }
}

/// Returns the number of moments that were served, and writes the figures to `told`.
pub async fn spawn_to_begin(n: u64, told: Arc<Lock<String>>) -> u64 {
    let busy = LongTasks::start();
    // excerpt beside-spawn
    let all = spawn(async move {
        let mut all = Vec::new();
        for i in 0..n {
            sleep(Lateness::pause(i)).await;
            let start = Instant::now();
            all.push(spawn(async move { start.elapsed() }));
        }
        let mut waited = Vec::new();
        for one in all {
            waited.push(one.await.unwrap());
        }
        waited
    })
    .await
    .unwrap();
    // excerpt end
    busy.end().await;
    tell("spawn", all, &told)
}

pub async fn request_to_reply(n: u64, told: Arc<Lock<String>>) -> u64 {
    let busy = LongTasks::start();
    // excerpt beside-reply
    let (to, mut requests) = mpsc::channel(2);
    let (back, mut replies) = mpsc::channel(2);
    spawn(async move {
        while let Some(request) = requests.recv().await {
            back.send(request + 1).await.expect("the client receives");
        }
    });
    let all = spawn(async move {
        let mut waited = Vec::new();
        for i in 0..n {
            sleep(Lateness::pause(i)).await;
            let start = Instant::now();
            to.send(i).await.expect("the server receives");
            if replies.recv().await == Some(i + 1) {
                waited.push(start.elapsed());
            }
        }
        waited
    })
    .await
    .unwrap();
    // excerpt end
    busy.end().await;
    tell("reply", all, &told)
}

fn tell(kind: &str, waited: Vec<Duration>, told: &Lock<String>) -> u64 {
    let count = waited.len() as u64;
    *told.lock().unwrap() = beside_text(kind, waited);
    count
}
