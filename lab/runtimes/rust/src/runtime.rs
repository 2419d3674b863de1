// SPDX-License-Identifier: Apache-2.0
//! What a workload asks of a runtime.

pub trait Runtime: Sync + Sized {
    /// The largest pool that the library can make, or that the lab asks for.
    const MOST_THREADS: usize = 1024;

    /// What a task needs at hand to fork. It is passed down, since some libraries hand it to their closures.
    type Here<'a>;

    /// A pool of that many threads, the one that enters it included where the library lets it work.
    fn start(threads: usize) -> Self;

    /// Runs `f` where it can fork, and waits for it.
    fn enter<T: Send>(&self, f: impl FnOnce(&mut Self::Here<'_>) -> T + Send) -> T;

    /// The two results, computed in parallel where a thread is free.
    fn both<A: Send, B: Send>(
        here: &mut Self::Here<'_>,
        f: impl FnOnce(&mut Self::Here<'_>) -> A + Send,
        g: impl FnOnce(&mut Self::Here<'_>) -> B + Send,
    ) -> (A, B);

    /// f(first) + ... + f(last - 1) as a tree of `both`: all these libraries fork in two.
    fn sum(
        here: &mut Self::Here<'_>,
        first: usize,
        last: usize,
        f: &(impl Fn(&mut Self::Here<'_>, usize) -> i64 + Sync),
    ) -> i64 {
        match last - first {
            0 => 0,
            1 => f(here, first),
            n => {
                let middle = first + n / 2;
                let (a, b) =
                    Self::both(here, |here| Self::sum(here, first, middle, f), |here| Self::sum(here, middle, last, f));
                a + b
            }
        }
    }
}

/// One problem of one size.
pub trait Workload: Sync + Sized {
    /// None where the size is out of range.
    fn parse(size: &str) -> Option<Self>;
    fn run<R: Runtime>(&self, runtime: &R) -> i64;
    fn expected(&self) -> i64;
    /// Nodes of the tree of calls.
    fn tasks(&self) -> i64;
}
