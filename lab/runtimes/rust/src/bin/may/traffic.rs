// SPDX-License-Identifier: Apache-2.0
//! Several producers and consumers of one channel. may's channels have no bound, so a semaphore has
//! as many permits as a channel has room.

use crate::start;
use lab::fibers::ranges;
use may::sync::{mpmc, Semphore};
use std::sync::Arc;

// excerpt mpmc
pub fn many_to_many(n: u64, each_side: u64) -> u64 {
    let (to, from) = mpmc::channel::<Option<u64>>();
    let room = Arc::new(Semphore::new(128));
    let producers: Vec<_> = ranges(n, each_side)
        .map(|range| {
            let (to, room) = (to.clone(), room.clone());
            start(move || {
                for number in range {
                    room.wait();
                    to.send(Some(number)).expect("a consumer receives");
                }
            })
        })
        .collect();
    let consumers: Vec<_> = (0..each_side)
        .map(|_| {
            let (from, room) = (from.clone(), room.clone());
            start(move || {
                let mut sum = 0;
                while let Ok(Some(number)) = from.recv() {
                    sum += number;
                    room.post();
                }
                sum
            })
        })
        .collect();
    for one in producers {
        one.join().unwrap();
    }
    for _ in 0..each_side {
        to.send(None).expect("a consumer receives");
    }
    consumers.into_iter().map(|one| one.join().unwrap()).sum()
}
// excerpt end
