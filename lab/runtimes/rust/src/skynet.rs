// SPDX-License-Identifier: Apache-2.0
//! skynet: a tree with ten children for each inner node. Leaves return their number, and inner
//! nodes the sum of their children.

use crate::runtime::{Runtime, Workload};

pub struct Skynet {
    leaves: i64,
}

// excerpt skynet
fn node<R: Runtime>(here: &mut R::Here<'_>, first: i64, leaves: i64) -> i64 {
    if leaves == 1 {
        return first;
    }
    let part = leaves / 10;
    R::sum(here, 0, 10, &|here: &mut R::Here<'_>, i| node::<R>(here, first + i as i64 * part, part))
}
// excerpt end

impl Workload for Skynet {
    fn parse(size: &str) -> Option<Skynet> {
        let depth = size.parse().ok().filter(|&depth: &u32| depth <= 9)?;
        Some(Skynet { leaves: 10i64.pow(depth) })
    }
    fn run<R: Runtime>(&self, runtime: &R) -> i64 {
        runtime.enter(|here| node::<R>(here, 0, self.leaves))
    }
    fn expected(&self) -> i64 {
        self.leaves * (self.leaves - 1) / 2
    }
    fn tasks(&self) -> i64 {
        (self.leaves * 10 - 1) / 9
    }
}
