// SPDX-License-Identifier: Apache-2.0
//! chili: `Scope::join` as it comes (it forks one join in 64 once its queue holds three).
mod common;
use chili::Scope;
use common::{measure, Forks};
use std::num::NonZeroUsize;

/// The scope that a worker hands to a closure, for the length of that call.
fn same<'a, 's>(scope: &'a mut Scope<'_>) -> &'a mut Scope<'s> {
    // SAFETY: only the scope's lifetime parameter is widened; the reference itself ends with the call.
    unsafe { std::mem::transmute(scope) }
}

impl<'s> Forks for Scope<'s> {
    fn both<A: Send, B: Send>(
        &mut self,
        f: impl FnOnce(&mut Self) -> A + Send,
        g: impl FnOnce(&mut Self) -> B + Send,
    ) -> (A, B) {
        self.join(|s| f(same(s)), |s| g(same(s)))
    }
}

fn main() {
    measure(|threads, timed| {
        let pool = chili::ThreadPool::with_config(chili::Config { thread_count: NonZeroUsize::new(threads), ..Default::default() });
        timed(&|work| work.run(&mut pool.scope()));
    });
}
