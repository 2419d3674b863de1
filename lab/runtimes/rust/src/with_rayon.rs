// SPDX-License-Identifier: Apache-2.0
//! rayon: `join`, ten children as a tree of joins.
mod common;
use common::{measure, Forks};

struct Rayon;

impl Forks for Rayon {
    fn both<A: Send, B: Send>(
        &mut self,
        f: impl FnOnce(&mut Self) -> A + Send,
        g: impl FnOnce(&mut Self) -> B + Send,
    ) -> (A, B) {
        rayon::join(|| f(&mut Rayon), || g(&mut Rayon))
    }
}

fn main() {
    measure(|threads, timed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(64 << 20).build().expect("pool");
        timed(&|work| pool.install(|| work.run(&mut Rayon)));
    });
}
