// SPDX-License-Identifier: Apache-2.0
//! Benchmarks of the Savina suite, as `workloads/actors/savina*.hpp` describe them.

mod pi;

use std::future::Future;
use std::pin::Pin;

const WORKERS: usize = 20;

type Task = Pin<Box<dyn Future<Output = u64> + Send>>;

pub fn of(workload: &str, n: u64) -> Option<Task> {
    Some(match workload {
        "savina-piprecision" => Box::pin(pi::run(n)),
        _ => return None,
    })
}

/// The answer and the number of operations.
pub fn known(workload: &str, n: u64) -> Option<(u64, u64)> {
    Some(match workload {
        "savina-piprecision" => pi::known(n),
        _ => return None,
    })
}
