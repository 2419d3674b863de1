// SPDX-License-Identifier: Apache-2.0
//! chili: `Scope::join` as it comes, which makes 63 of 64 joins plain calls once three wait in its queue: a cutoff of
//! the library's own.
use chili::{Config, Scope, ThreadPool};
use lab::Forks;
use std::num::NonZeroUsize;

struct Chili(ThreadPool);

impl Forks for Chili {
    type Context<'c> = Scope<'c>;

    fn start(threads: usize) -> Self {
        Chili(ThreadPool::with_config(Config { thread_count: NonZeroUsize::new(threads), ..Config::default() }))
    }

    fn enter(&self, job: &(impl Fn(&mut Scope<'_>) -> i64 + Sync)) -> i64 {
        job(&mut self.0.scope())
    }

    fn both<A: Send, B: Send>(
        scope: &mut Scope<'_>,
        f: impl FnOnce(&mut Scope<'_>) -> A + Send,
        g: impl FnOnce(&mut Scope<'_>) -> B + Send,
    ) -> (A, B) {
        scope.join(f, g)
    }
}

fn main() {
    lab::program::main::<Chili>()
}
