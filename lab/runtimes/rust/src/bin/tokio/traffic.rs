// SPDX-License-Identifier: Apache-2.0
//! Several producers and consumers of one channel. A receiver of tokio's channel cannot be shared,
//! so it is behind a mutex. tokio has no channel without a buffer.

use lab::fibers::ranges;
use std::sync::Arc;
use tokio::sync::{mpsc, Mutex};
use tokio::task::spawn;

// excerpt mpmc
pub async fn many_to_many(n: u64, room: usize, each_side: u64) -> u64 {
    let (to, from) = mpsc::channel(room);
    let from = Arc::new(Mutex::new(from));
    for range in ranges(n, each_side) {
        let to = to.clone();
        spawn(async move {
            for number in range {
                to.send(number).await.expect("a consumer receives");
            }
        });
    }
    drop(to); // The channel closes when the last producer has ended.
    let consumers: Vec<_> = (0..each_side)
        .map(|_| {
            let from = from.clone();
            spawn(async move {
                let mut sum = 0;
                loop {
                    let Some(number) = from.lock().await.recv().await else { return sum };
                    sum += number;
                }
            })
        })
        .collect();
    let mut sum = 0;
    for one in consumers {
        sum += one.await.unwrap();
    }
    sum
}
// excerpt end
