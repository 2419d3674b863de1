// SPDX-License-Identifier: Apache-2.0
//! chili: `Scope::join` with its defaults, which offers one join in 64 to other threads once its
//! queue holds three joins.

use chili::{Config, Scope, ThreadPool};
use std::num::NonZeroUsize;
use std::process::ExitCode;

struct Chili(ThreadPool);

impl lab::Runtime for Chili {
    type Here<'a> = Scope<'a>;

    fn start(threads: usize) -> Chili {
        Chili(ThreadPool::with_config(Config {
            thread_count: NonZeroUsize::new(threads),
            ..Config::default()
        }))
    }

    fn enter<T: Send>(&self, f: impl FnOnce(&mut Scope<'_>) -> T + Send) -> T {
        f(&mut self.0.scope())
    }

    fn both<A: Send, B: Send>(
        here: &mut Scope<'_>,
        f: impl FnOnce(&mut Scope<'_>) -> A + Send,
        g: impl FnOnce(&mut Scope<'_>) -> B + Send,
    ) -> (A, B) {
        here.join(f, g)
    }
}

fn main() -> ExitCode {
    lab::main::<Chili>()
}
