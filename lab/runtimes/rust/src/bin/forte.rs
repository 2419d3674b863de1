// SPDX-License-Identifier: Apache-2.0
//! forte: `Worker::join` with its defaults, which runs both closures inline once four joins are
//! queued.

use forte::{ThreadPool, Worker};
use std::process::ExitCode;

static POOL: ThreadPool = ThreadPool::new();

struct Forte;

impl lab::Runtime for Forte {
    const MOST_THREADS: usize = 32; // the limit of forte's pools

    type Here<'a> = &'a Worker;

    fn start(threads: usize) -> Forte {
        POOL.resize_to(threads - 1); // the entering thread is the last one
        Forte
    }

    fn enter<T: Send>(&self, f: impl FnOnce(&mut &Worker) -> T + Send) -> T {
        POOL.with_worker(|mut worker| f(&mut worker))
    }

    fn both<A: Send, B: Send>(
        here: &mut &Worker,
        f: impl FnOnce(&mut &Worker) -> A + Send,
        g: impl FnOnce(&mut &Worker) -> B + Send,
    ) -> (A, B) {
        here.join(|mut worker| f(&mut worker), |mut worker| g(&mut worker))
    }
}

fn main() -> ExitCode {
    lab::main::<Forte>()
}
