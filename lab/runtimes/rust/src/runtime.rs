// SPDX-License-Identifier: Apache-2.0
//! The interface between a workload and a runtime.

use crate::metg::Graph;

pub trait Runtime: Sync + Sized {
    /// The largest pool that the library can make, or that the lab asks for.
    const MOST_THREADS: usize = 1024;

    /// The object that a task needs to fork. Each task passes it down, since some libraries give it
    /// to their closures.
    type Here<'a>;

    /// Starts a pool of that many threads. The entering thread is one of them if the library lets
    /// it work.
    fn start(threads: usize) -> Self;

    /// Runs `f` where it can fork, and waits for its end.
    fn enter<T: Send>(&self, f: impl FnOnce(&mut Self::Here<'_>) -> T + Send) -> T;

    /// Runs all tasks of a graph and returns true, or returns false if the lab has no port of
    /// graphs to this runtime.
    fn run_graph(&self, _graph: &Graph) -> bool {
        false
    }

    /// Returns the two results, computed in parallel if a thread is free.
    fn both<A: Send, B: Send>(
        here: &mut Self::Here<'_>,
        f: impl FnOnce(&mut Self::Here<'_>) -> A + Send,
        g: impl FnOnce(&mut Self::Here<'_>) -> B + Send,
    ) -> (A, B);

    /// Returns f(first) + ... + f(last - 1), computed as a tree of `both`, since all these
    /// libraries fork in two.
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
                let (a, b) = Self::both(
                    here,
                    |here| Self::sum(here, first, middle, f),
                    |here| Self::sum(here, middle, last, f),
                );
                a + b
            }
        }
    }
}

/// One problem of one size.
pub trait Workload: Sync + Sized {
    /// Returns None if the size is out of range.
    fn parse(size: &str) -> Option<Self>;
    fn run<R: Runtime>(&self, runtime: &R) -> i64;
    fn expected(&self) -> i64;
    /// The number of nodes of the tree of calls.
    fn tasks(&self) -> i64;
}
