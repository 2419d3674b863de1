// SPDX-License-Identifier: Apache-2.0
//! `PROGRAM WORKLOAD SIZE THREADS` runs one workload once to warm up and once timed, and prints one line of JSON.

use crate::fib::Fib;
use crate::matmul::Matmul;
use crate::nqueens::Queens;
use crate::report::measured;
use crate::runtime::{Runtime, Workload};
use crate::skynet::Skynet;
use crate::uts::Uts;
use std::process::ExitCode;

/// Bytes of each thread's stack, of which only what is touched takes memory: a waiting `join` runs other tasks on top.
const STACK: usize = 256 << 20;

fn measure<R: Runtime, W: Workload>(size: &str, threads: usize) -> Result<(), String> {
    let workload = W::parse(size).ok_or_else(|| format!("size out of range: '{size}'"))?;
    let runtime = R::start(threads);
    measured(|| Ok(workload.run(&runtime)), workload.expected(), workload.tasks(), String::new)
}

fn run<R: Runtime>(arguments: &[String]) -> Result<(), String> {
    let [workload, size, threads] = arguments else {
        return Err("usage: WORKLOAD SIZE THREADS".into());
    };
    let count = threads
        .parse()
        .ok()
        .filter(|count| (1..=R::MOST_THREADS).contains(count))
        .ok_or_else(|| format!("threads must be a number from 1 to {}, not '{threads}'", R::MOST_THREADS))?;
    match workload.as_str() {
        "fib" => measure::<R, Fib>(size, count),
        "skynet" => measure::<R, Skynet>(size, count),
        "nqueens" => measure::<R, Queens>(size, count),
        "matmul" => measure::<R, Matmul>(size, count),
        "uts" => measure::<R, Uts>(size, count),
        other => Err(format!("unknown workload '{other}'")),
    }
}

/// The main function of a runtime's program.
pub fn main<R: Runtime>() -> ExitCode {
    // The size for the threads of all pools, also of those that cannot be told; std reads it when the first one starts.
    std::env::set_var("RUST_MIN_STACK", STACK.to_string());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Some libraries let the thread that enters take part, so this one needs the same stack.
    match std::thread::spawn(move || run::<R>(&arguments)).join() {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(text)) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
        Err(_) => ExitCode::FAILURE, // it panicked, which has been reported
    }
}
