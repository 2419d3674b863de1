// SPDX-License-Identifier: Apache-2.0
//! forte: `Worker::join`, the worker handed down; the caller is one of the workers.
use forte::{ThreadPool, Worker};
use lab::Forks;

struct Forte;

static POOL: ThreadPool = ThreadPool::new();

impl Forks for Forte {
    type Context<'c> = &'c Worker;

    fn start(threads: usize) -> Self {
        let others = POOL.resize_to(threads - 1);
        assert_eq!(others, threads - 1, "forte limits its pool");
        Forte
    }

    fn enter(&self, job: &(impl Fn(&mut &Worker) -> i64 + Sync)) -> i64 {
        POOL.with_worker(|mut worker| job(&mut worker))
    }

    fn both<A: Send, B: Send>(
        worker: &mut &Worker,
        f: impl FnOnce(&mut &Worker) -> A + Send,
        g: impl FnOnce(&mut &Worker) -> B + Send,
    ) -> (A, B) {
        worker.join(|mut worker| f(&mut worker), |mut worker| g(&mut worker))
    }
}

fn main() {
    lab::program::main::<Forte>()
}
