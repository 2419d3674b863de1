// SPDX-License-Identifier: Apache-2.0
use crate::Forks;

/// The sum over `count` leaves below this node, which are numbered from `first`.
pub fn run<L: Forks>(context: &mut L::Context<'_>, first: i64, count: i64) -> i64 {
    if count == 1 {
        return first;
    }
    let part = count / 10;
    L::sum(context, 0, 10, &|c: &mut L::Context<'_>, i| run::<L>(c, first + i as i64 * part, part))
}

pub fn leaves(depth: u32) -> i64 {
    10i64.pow(depth)
}

pub fn expected(depth: u32) -> i64 {
    leaves(depth) * (leaves(depth) - 1) / 2
}

/// Nodes.
pub fn tasks(depth: u32) -> i64 {
    (leaves(depth) * 10 - 1) / 9
}
