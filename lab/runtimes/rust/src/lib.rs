// SPDX-License-Identifier: Apache-2.0
//! The lab's workloads for Rust, written once over [`Forks`]; a program in `bin/` adds one library.

mod fib;
mod forks;
mod matmul;
mod nqueens;
pub mod program;
mod sha1;
mod skynet;
mod uts;

pub use forks::Forks;
