// SPDX-License-Identifier: Apache-2.0
//! fib: the naive recursion without a cutoff.

use crate::runtime::{Runtime, Workload};

pub struct Fib(i64);

fn value(n: i64) -> i64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

// excerpt fib
fn node<R: Runtime>(here: &mut R::Here<'_>, n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (a, b) = R::both(here, |here| node::<R>(here, n - 1), |here| node::<R>(here, n - 2));
    a + b
}
// excerpt end

impl Workload for Fib {
    fn parse(size: &str) -> Option<Fib> {
        size.parse().ok().filter(|n| (0..=50).contains(n)).map(Fib)
    }
    fn run<R: Runtime>(&self, runtime: &R) -> i64 {
        runtime.enter(|here| node::<R>(here, self.0))
    }
    fn expected(&self) -> i64 {
        value(self.0)
    }
    fn tasks(&self) -> i64 {
        2 * value(self.0 + 1) - 1
    }
}
