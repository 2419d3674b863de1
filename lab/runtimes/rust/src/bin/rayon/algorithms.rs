// SPDX-License-Identifier: Apache-2.0
//! Parallel algorithms over n random 64-bit numbers, as in workloads/algorithms/rows.hpp. The input
//! is made before the clock starts. The answer is n if the whole result is that of the serial
//! algorithm.

use rayon::prelude::*;

type Counts = [usize; 256];

pub struct Data {
    input: Vec<u64>,
    work: Vec<u64>,
    output: Vec<u64>,
    sum: u64,
    found: Option<usize>,
    counts: Counts,
}

fn changed(v: u64) -> u64 {
    v.wrapping_mul(3).wrapping_add(1)
}
fn bucket_of(v: u64) -> usize {
    (v % 256) as usize
}

impl Data {
    fn new(n: usize) -> Data {
        let mut state = n as u64; // splitmix64
        let input: Vec<u64> = (0..n)
            .map(|_| {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let a = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                b ^ (b >> 31)
            })
            .collect();
        let work = input.clone();
        Data { input, work, output: vec![1; n], sum: 0, found: None, counts: [0; 256] }
    }
    fn prepare(&mut self) {
        self.work.copy_from_slice(&self.input);
        self.output.fill(0);
    }
    fn is_sorted_input(&self) -> bool {
        let mut expected = self.input.clone();
        expected.sort_unstable();
        self.work == expected
    }
}

/// An algorithm, and the check of its result.
type Row = (fn(&mut Data), fn(&Data) -> bool);

fn row(name: &str) -> Option<Row> {
    Some(match name {
        "algorithm-sort" => (|d| d.work.par_sort_unstable(), Data::is_sorted_input),
        "algorithm-stable-sort" => (|d| d.work.par_sort(), Data::is_sorted_input),
        "algorithm-reduce" => (
            |d| d.sum = d.input.par_iter().copied().reduce(|| 0, u64::wrapping_add),
            |d| d.sum == d.input.iter().fold(0, |a, &b| a.wrapping_add(b)),
        ),
        "algorithm-transform" => (
            |d| {
                d.output.par_iter_mut().zip(d.input.par_iter()).for_each(|(o, &v)| *o = changed(v));
            },
            |d| d.output.iter().zip(&d.input).all(|(&o, &v)| o == changed(v)),
        ),
        "algorithm-find" => (
            |d| {
                let wanted = d.input[d.input.len() - 1];
                d.found = d.input.par_iter().position_first(|&v| v == wanted);
            },
            |d| d.found == Some(d.input.len() - 1),
        ),
        "algorithm-histogram" => (
            |d| {
                // A vector, since each element would copy an array.
                let none = || vec![0; 256];
                let add = |mut a: Vec<usize>, b: Vec<usize>| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    a
                };
                let count = |mut counts: Vec<usize>, &v: &u64| {
                    counts[bucket_of(v)] += 1;
                    counts
                };
                let counts = d.input.par_iter().fold(none, count).reduce(none, add);
                d.counts.copy_from_slice(&counts);
            },
            |d| {
                let mut expected = [0; 256];
                d.input.iter().for_each(|&v| expected[bucket_of(v)] += 1);
                d.counts == expected
            },
        ),
        _ => return None,
    })
}

/// Runs the workload if it is one of these.
pub fn run(
    workload: &str,
    size: &str,
    pool: impl Fn() -> rayon::ThreadPool,
) -> Option<Result<(), String>> {
    let (algorithm, right) = row(workload)?;
    let Some(n) = size.parse().ok().filter(|n| (1..=100_000_000).contains(n)) else {
        return Some(Err(format!("size out of range: '{size}'")));
    };
    let mut data = Data::new(n);
    let pool = pool();
    let count = n as i64;
    let answer = |d: &Data| if right(d) { count } else { -1 };
    Some(lab::measured_in_place(
        &mut data,
        Data::prepare,
        |d| pool.install(|| algorithm(d)),
        answer,
        count,
    ))
}
