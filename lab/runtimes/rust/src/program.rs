// SPDX-License-Identifier: Apache-2.0
//! `PROGRAM WORKLOAD SIZE THREADS` runs one workload once to warm up and once timed, and prints one
//! line of JSON.

use crate::fib::Fib;
use crate::integrate::Integrate;
use crate::knapsack::Knapsack;
use crate::matmul::Matmul;
use crate::metg::{self, Graph};
use crate::nqueens::Queens;
use crate::report::measured;
use crate::runtime::{Runtime, Workload};
use crate::skynet::Skynet;
use crate::uts::Uts;
use std::cell::Cell;
use std::process::ExitCode;

/// The size of each thread's stack in bytes. A waiting `join` runs other tasks on top, so the stack
/// must be large. Only the touched part of it takes memory.
const STACK: usize = 256 << 20;

fn measure<R: Runtime, W: Workload>(size: &str, threads: usize) -> Result<(), String> {
    let workload = W::parse(size).ok_or_else(|| format!("size out of range: '{size}'"))?;
    let runtime = R::start(threads);
    measured(|| Ok(workload.run(&runtime)), workload.expected(), workload.tasks(), String::new)
}

fn measure_metg<R: Runtime>(workload: &str, size: &str, threads: usize) -> Result<(), String> {
    let steps = size.parse().ok().filter(|steps| (1..=10_000).contains(steps));
    let steps = steps.ok_or_else(|| format!("size out of range: '{size}'"))?;
    let unknown = || format!("unknown workload '{workload}'");
    let graph = Graph::named(workload, steps).ok_or_else(unknown)?;
    let runtime = R::start(threads);
    let offered = Cell::new(true);
    let step = metg::seconds_of_step(threads);
    let metg_us = Cell::new(0.0);
    let sweep = || {
        let run_once = || offered.set(offered.get() && runtime.run_graph(&graph));
        let (right, us) = graph.sweep(threads, step, run_once);
        if !offered.get() {
            return Err(unknown());
        }
        metg_us.set(us);
        Ok(right)
    };
    measured(sweep, graph.tasks(), graph.tasks(), || metg::text(metg_us.get()))
}

/// Runs a workload that only one runtime has; `None` if the name is not among them.
pub type OwnWorkload = fn(&str, &str, usize) -> Option<Result<(), String>>;

fn run<R: Runtime>(arguments: &[String], own: OwnWorkload) -> Result<(), String> {
    let [workload, size, threads] = arguments else {
        return Err("usage: WORKLOAD SIZE THREADS".into());
    };
    let count =
        threads.parse().ok().filter(|count| (1..=R::MOST_THREADS).contains(count)).ok_or_else(
            || format!("threads must be a number from 1 to {}, not '{threads}'", R::MOST_THREADS),
        )?;
    if let Some(result) = own(workload, size, count) {
        return result;
    }
    match workload.as_str() {
        "fib" => measure::<R, Fib>(size, count),
        "skynet" => measure::<R, Skynet>(size, count),
        "nqueens" => measure::<R, Queens>(size, count),
        "matmul" => measure::<R, Matmul>(size, count),
        "uts" => measure::<R, Uts>(size, count),
        "integrate" => measure::<R, Integrate>(size, count),
        "knapsack" => measure::<R, Knapsack>(size, count),
        other => measure_metg::<R>(other, size, count),
    }
}

/// The main function of a runtime's program.
pub fn main<R: Runtime>() -> ExitCode {
    main_with::<R>(|_, _, _| None)
}

/// The main function of a runtime's program that has workloads of its own.
pub fn main_with<R: Runtime>(own: OwnWorkload) -> ExitCode {
    // Sets the size for the threads of all pools, including pools without such an option. std
    // reads the variable when the first thread starts.
    std::env::set_var("RUST_MIN_STACK", STACK.to_string());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Some libraries let the entering thread take part, so this thread needs a stack of that size.
    match std::thread::spawn(move || run::<R>(&arguments, own)).join() {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(text)) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
        Err(_) => ExitCode::FAILURE, // the thread panicked, which has been reported
    }
}
