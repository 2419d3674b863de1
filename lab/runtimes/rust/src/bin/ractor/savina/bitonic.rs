// SPDX-License-Identifier: Apache-2.0
//! savina-bitonicsort.

use super::Random;
use crate::servants::Company;
use crate::{tell, Done, Finish};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::mem::swap;
use std::sync::Arc;

const SEED: u64 = 2048;

/// The block and the distance of each stage, the first stage first.
fn stages(n: u64) -> Vec<(u64, usize)> {
    let mut all = Vec::new();
    let mut block = 2;
    while block <= n {
        let mut distance = block as usize / 2;
        while distance > 0 {
            all.push((block, distance));
            distance /= 2;
        }
        block *= 2;
    }
    all
}

pub fn known(n: u64) -> (u64, u64) {
    let mut numbers = Random(SEED);
    ((0..n).map(|_| numbers.next()).sum(), stages(n).len() as u64 * n)
}

struct Stage;
struct StageState {
    next: ActorRef<u64>,
    block: u64,
    kept: Vec<u64>,
    taken: usize,
}

// excerpt savina-bitonicsort
impl Actor for Stage {
    type Msg = u64;
    starts_with!(StageState);
    async fn handle(&self, _: ActorRef<u64>, mut value: u64, state: &mut StageState) -> Done {
        let distance = state.kept.len();
        let at = state.taken % (2 * distance);
        let ascending = state.taken as u64 & state.block == 0;
        state.taken += 1;
        let kept = &mut state.kept[at % distance];
        if at < distance {
            *kept = value;
            return Ok(());
        }
        if (*kept > value) == ascending {
            swap(kept, &mut value);
        }
        tell(&state.next, *kept);
        *kept = value;
        if at + 1 == 2 * distance {
            for one in &state.kept {
                tell(&state.next, *one);
            }
        }
        Ok(())
    }
}
// excerpt end

struct End;
struct EndState {
    left: u64,
    last: u64,
    sum: u64,
    in_order: bool,
    whole: Arc<Finish>,
}

impl Actor for End {
    type Msg = u64;
    starts_with!(EndState);
    async fn handle(&self, _: ActorRef<u64>, value: u64, state: &mut EndState) -> Done {
        state.in_order &= state.last <= value;
        state.last = value;
        state.sum += value;
        state.left -= 1;
        if state.left == 0 {
            state.whole.one_more(if state.in_order { state.sum } else { u64::MAX });
        }
        Ok(())
    }
}

pub async fn run(n: u64) -> u64 {
    let whole = Finish::after(1);
    let mut all = Company::default();
    let end = EndState { left: n, last: 0, sum: 0, in_order: true, whole: whole.clone() };
    let mut first = all.start(End, end).await;
    for (block, distance) in stages(n).into_iter().rev() {
        let state = StageState { next: first, block, kept: vec![0; distance], taken: 0 };
        first = all.start(Stage, state).await;
    }
    let mut numbers = Random(SEED);
    for _ in 0..n {
        tell(&first, numbers.next());
    }
    let answer = whole.wait().await;
    all.end().await;
    answer
}
