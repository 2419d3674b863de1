// SPDX-License-Identifier: Apache-2.0
use crate::Forks;

pub fn run<L: Forks>(context: &mut L::Context<'_>, n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (a, b) = L::both(context, |c| run::<L>(c, n - 1), |c| run::<L>(c, n - 2));
    a + b
}

pub fn expected(n: i64) -> i64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// Calls.
pub fn tasks(n: i64) -> i64 {
    2 * expected(n + 1) - 1
}
