// SPDX-License-Identifier: Apache-2.0
//! Benchmarks of the Savina suite, as `workloads/actors/savina*.hpp` describe them.

mod bank;
mod bitonic;
mod pi;
mod quadrants;
mod search;
mod sor;
mod uct;

use std::future::Future;
use std::pin::Pin;

const WORKERS: usize = 20;

type Task = Pin<Box<dyn Future<Output = u64> + Send>>;

pub fn of(workload: &str, n: u64) -> Option<Task> {
    Some(match workload {
        "savina-piprecision" => Box::pin(pi::run(n)),
        "savina-sor" => Box::pin(sor::run(n)),
        "savina-uct" => Box::pin(uct::run(n)),
        "savina-bitonicsort" => Box::pin(bitonic::run(n)),
        "savina-filterbank" => Box::pin(bank::run(n)),
        "savina-astar" => Box::pin(search::run(n)),
        "savina-facloc" => Box::pin(quadrants::run(n)),
        _ => return None,
    })
}

/// The suite's random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = (self.0 * 1309 + 13849) & 0xFFFF;
        self.0
    }
}

/// The answer and the number of operations.
pub fn known(workload: &str, n: u64) -> Option<(u64, u64)> {
    Some(match workload {
        "savina-piprecision" => pi::known(n),
        "savina-sor" => sor::known(n),
        "savina-uct" => uct::known(n),
        "savina-bitonicsort" => bitonic::known(n),
        "savina-filterbank" => bank::known(n),
        "savina-astar" => search::known(n),
        "savina-facloc" => (n, n),
        _ => return None,
    })
}
