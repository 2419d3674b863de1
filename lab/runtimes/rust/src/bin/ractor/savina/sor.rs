// SPDX-License-Identifier: Apache-2.0
//! savina-sor.

use super::Random;
use crate::servants::Company;
use crate::{tell, Done, Finish};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::sync::Arc;

const ROUNDS: u64 = 100;
const OMEGA: f64 = 1.25;

/// The row and the column of a neighbour, relative to the cell. Sides 0 and 1 are opposite, and so
/// are 2 and 3.
const SIDES: [(isize, isize); 4] = [(0, -1), (0, 1), (-1, 0), (1, 0)];

fn neighbour(n: usize, at: usize, side: usize) -> Option<usize> {
    let (row, column) = ((at / n) as isize + SIDES[side].0, (at % n) as isize + SIDES[side].1);
    let inside = 0..n as isize;
    (inside.contains(&row) && inside.contains(&column))
        .then_some(row as usize * n + column as usize)
}

fn next(own: f64, around: &[f64; 4]) -> f64 {
    let sum = around[0] + around[1] + around[2] + around[3];
    OMEGA / 4.0 * sum + (1.0 - OMEGA) * own
}

fn rounded(value: f64) -> u64 {
    (value + 0.5).floor() as i64 as u64
}

fn is_red(n: usize, at: usize) -> bool {
    (at / n + at % n) % 2 == 0
}

fn numbers(n: usize) -> Vec<f64> {
    let mut from = Random(n as u64);
    (0..n * n).map(|_| from.next() as f64).collect()
}

pub fn known(n: u64) -> (u64, u64) {
    let side = n as usize;
    let (mut values, mut sum) = (numbers(side), 0u64);
    for step in 0..2 * ROUNDS {
        for at in 0..values.len() {
            if is_red(side, at) == (step % 2 == 1) {
                let value = |i| neighbour(side, at, i).map_or(0.0, |other| values[other]);
                values[at] = next(values[at], &[value(0), value(1), value(2), value(3)]);
                sum = sum.wrapping_add(rounded(values[at]));
            }
        }
    }
    (sum, ROUNDS * n * n)
}

struct Cell;
enum AtCell {
    Begin(Arc<Vec<ActorRef<AtCell>>>),
    Value(usize, f64),
}
struct CellState {
    n: usize,
    at: usize,
    expected: usize,
    seen: usize,
    round: u64,
    value: f64,
    sum: u64,
    around: [f64; 4],
    all: Option<Arc<Vec<ActorRef<AtCell>>>>,
    whole: Arc<Finish>,
}

impl CellState {
    fn tell_neighbours(&self) {
        let Some(all) = &self.all else { return };
        for side in 0..4 {
            if let Some(other) = neighbour(self.n, self.at, side) {
                tell(&all[other], AtCell::Value(side ^ 1, self.value));
            }
        }
    }
    /// A value may arrive before the list of all actors.
    fn update_if_complete(&mut self) {
        if self.seen < self.expected || self.all.is_none() {
            return;
        }
        self.seen = 0;
        self.value = next(self.value, &self.around);
        self.sum = self.sum.wrapping_add(rounded(self.value));
        self.round += 1;
        if self.round < ROUNDS || !is_red(self.n, self.at) {
            self.tell_neighbours();
        }
        if self.round == ROUNDS {
            self.whole.one_more(self.sum);
        }
    }
}

impl Actor for Cell {
    type Msg = AtCell;
    starts_with!(CellState);
    async fn handle(&self, _: ActorRef<AtCell>, message: AtCell, state: &mut CellState) -> Done {
        match message {
            AtCell::Begin(all) => {
                state.all = Some(all);
                if is_red(state.n, state.at) {
                    state.tell_neighbours();
                } else {
                    state.update_if_complete();
                }
            }
            AtCell::Value(side, value) => {
                state.around[side] = value;
                state.seen += 1;
                state.update_if_complete();
            }
        }
        Ok(())
    }
}

pub async fn run(n: u64) -> u64 {
    let n = n as usize;
    let whole = Finish::after((n * n) as u64);
    let mut company = Company::default();
    let mut all = Vec::new();
    for (at, value) in numbers(n).into_iter().enumerate() {
        let state = CellState {
            n,
            at,
            expected: (0..4).filter(|side| neighbour(n, at, *side).is_some()).count(),
            seen: 0,
            round: 0,
            value,
            sum: 0,
            around: [0.0; 4],
            all: None,
            whole: whole.clone(),
        };
        all.push(company.start(Cell, state).await);
    }
    let all = Arc::new(all);
    for cell in all.iter() {
        tell(cell, AtCell::Begin(all.clone()));
    }
    let answer = whole.wait().await;
    company.end().await;
    answer
}
