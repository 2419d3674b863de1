// SPDX-License-Identifier: Apache-2.0
//! rayon: `join`; more children than two as a tree of joins, which is also what its parallel iterators make.
use lab::Forks;

struct Rayon(rayon::ThreadPool);

impl Forks for Rayon {
    type Context<'c> = ();

    fn start(threads: usize) -> Self {
        Rayon(rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads"))
    }

    fn enter(&self, job: &(impl Fn(&mut ()) -> i64 + Sync)) -> i64 {
        self.0.install(|| job(&mut ()))
    }

    fn both<A: Send, B: Send>(
        _: &mut (),
        f: impl FnOnce(&mut ()) -> A + Send,
        g: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        rayon::join(|| f(&mut ()), || g(&mut ()))
    }
}

fn main() {
    lab::program::main::<Rayon>()
}
