// SPDX-License-Identifier: Apache-2.0
//! savina-piprecision.

use super::WORKERS;
use crate::servants::Company;
use crate::{tell, Done, Finish};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::sync::Arc;

const MODULUS: u64 = 1_000_000_007;

/// The number of words of the fraction.
fn fraction(decimals: u64) -> usize {
    (decimals * 10 / 96 + 4) as usize
}

fn terms(decimals: u64) -> u64 {
    8 * (fraction(decimals) as u64 - 2)
}

fn term(fraction: usize, k: u64) -> Vec<u32> {
    let divisors = [8 * k + 1, 8 * k + 4, 8 * k + 5, 8 * k + 6];
    let shift = 32 * fraction - 4 * k as usize;
    let bits = [shift + 2, shift + 1, shift, shift];
    let mut rests = [0u64; 4];
    let mut differences = vec![0i64; bits[0] / 32 + 1];
    for i in (0..differences.len()).rev() {
        for part in 0..4 {
            let set = if bits[part] / 32 == i { 1 << (bits[part] % 32) } else { 0 };
            let value = rests[part] << 32 | set;
            let quotient = (value / divisors[part]) as i64;
            rests[part] = value % divisors[part];
            differences[i] += if part == 0 { quotient } else { -quotient };
        }
    }
    let mut carry = 0i64;
    differences
        .iter()
        .map(|difference| {
            carry += difference;
            let word = carry as u32;
            carry >>= 32;
            word
        })
        .collect()
}

fn add(sum: &mut [u32], more: &[u32]) {
    let mut carry = 0u64;
    for (i, word) in sum.iter_mut().enumerate() {
        if i >= more.len() && carry == 0 {
            break;
        }
        carry += *word as u64 + *more.get(i).unwrap_or(&0) as u64;
        *word = carry as u32;
        carry >>= 32;
    }
}

fn answer(decimals: u64, sum: &mut [u32]) -> u64 {
    let (whole, fraction) = sum.split_last_mut().expect("the sum has words");
    let mut result = *whole as u64;
    let mut left = decimals;
    while left > 0 {
        let (power, mut carry) = (10u64.pow(left.min(9) as u32), 0u64);
        for word in fraction.iter_mut() {
            carry += *word as u64 * power;
            *word = carry as u32;
            carry >>= 32;
        }
        result = (result * power + carry) % MODULUS;
        left = left.saturating_sub(9);
    }
    result
}

pub fn known(decimals: u64) -> (u64, u64) {
    let fraction = fraction(decimals);
    let mut sum = vec![0; fraction + 1];
    for k in 0..terms(decimals) {
        add(&mut sum, &term(fraction, k));
    }
    (answer(decimals, &mut sum), terms(decimals))
}

struct Master;
enum AtMaster {
    Workers(Vec<ActorRef<u64>>),
    Term(usize, Vec<u32>),
}
struct MasterState {
    decimals: u64,
    sum: Vec<u32>,
    next: u64,
    seen: u64,
    workers: Vec<ActorRef<u64>>,
    whole: Arc<Finish>,
}

impl MasterState {
    fn give(&mut self, worker: usize) {
        if self.next < terms(self.decimals) {
            tell(&self.workers[worker], self.next);
            self.next += 1;
        }
    }
}

impl Actor for Master {
    type Msg = AtMaster;
    starts_with!(MasterState);
    async fn handle(
        &self,
        _: ActorRef<AtMaster>,
        message: AtMaster,
        state: &mut MasterState,
    ) -> Done {
        match message {
            AtMaster::Workers(workers) => {
                state.workers = workers;
                (0..WORKERS).for_each(|worker| state.give(worker));
            }
            AtMaster::Term(worker, value) => {
                add(&mut state.sum, &value);
                state.give(worker);
                state.seen += 1;
                if state.seen == terms(state.decimals) {
                    state.whole.one_more(answer(state.decimals, &mut state.sum));
                }
            }
        }
        Ok(())
    }
}

struct Worker;

impl Actor for Worker {
    type Msg = u64;
    starts_with!((usize, usize, ActorRef<AtMaster>));
    async fn handle(
        &self,
        _: ActorRef<u64>,
        k: u64,
        (number, fraction, to): &mut (usize, usize, ActorRef<AtMaster>),
    ) -> Done {
        tell(to, AtMaster::Term(*number, term(*fraction, k)));
        Ok(())
    }
}

pub async fn run(decimals: u64) -> u64 {
    let whole = Finish::after(1);
    let fraction = fraction(decimals);
    let mut all = Company::default();
    let state = MasterState {
        decimals,
        sum: vec![0; fraction + 1],
        next: 0,
        seen: 0,
        workers: Vec::new(),
        whole: whole.clone(),
    };
    let master = all.start(Master, state).await;
    let mut workers = Vec::new();
    for number in 0..WORKERS {
        workers.push(all.start(Worker, (number, fraction, master.clone())).await);
    }
    tell(&master, AtMaster::Workers(workers));
    let answer = whole.wait().await;
    all.end().await;
    answer
}
