// SPDX-License-Identifier: Apache-2.0
//! The common part of the lab's Rust runtimes: the workloads, written over one trait of forks, and
//! the program around them. Each workload is a file, and each runtime is a file in `bin/`.

mod fib;
pub mod fibers;
mod integrate;
mod knapsack;
mod matmul;
pub mod metg;
mod nqueens;
mod program;
mod report;
mod runtime;
mod sha1;
mod skynet;
mod usage;
mod uts;

pub use program::{main, main_with};
pub use report::measured_in_place;
pub use runtime::Runtime;
