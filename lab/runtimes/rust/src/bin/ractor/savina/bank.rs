// SPDX-License-Identifier: Apache-2.0
//! savina-filterbank.

use crate::servants::Company;
use crate::{tell, Done, Finish};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::collections::VecDeque;
use std::mem::replace;
use std::sync::Arc;

const CHANNELS: u64 = 8;
const COLUMNS: usize = 1024;

/// The coefficient of the first place is the last one.
fn coefficients(channel: u64, second: bool) -> Vec<u64> {
    let one = |i: u64| {
        let more = if second { channel * channel } else { i };
        (i * channel + more + i + channel) % 16 + 1
    };
    (0..COLUMNS as u64).rev().map(one).collect()
}

/// A filter whose product follows from the one before it.
struct Serial {
    coefficients: Vec<u64>,
    kept: Vec<u64>,
    product: u64,
    at: usize,
}

impl Serial {
    fn new(coefficients: Vec<u64>) -> Serial {
        Serial { coefficients, kept: vec![0; COLUMNS], product: 0, at: 0 }
    }
    fn take(&mut self, value: u64) -> u64 {
        self.product -= self.kept[self.at] * self.coefficients[self.at];
        self.product += value * self.coefficients[self.at];
        self.kept[self.at] = value;
        self.at = (self.at + 1) % COLUMNS;
        self.product
    }
}

pub fn known(n: u64) -> (u64, u64) {
    let mut answer = 0;
    let late = COLUMNS as u64 - 1;
    for channel in 0..CHANNELS {
        let mut first = Serial::new(coefficients(channel, false));
        let mut second = Serial::new(coefficients(channel, true));
        let mut sampled = VecDeque::from(vec![0; COLUMNS - 1]);
        for k in 0..n {
            let inner = first.take(if k >= late { (k - late) % 1000 } else { 0 });
            if k < late {
                continue;
            }
            sampled.push_back(if (k - late) % COLUMNS as u64 == 0 { inner } else { 0 });
            let outer = second.take(sampled.pop_front().expect("it holds 1,023 numbers"));
            if k >= 2 * late {
                answer += outer * ((k - 2 * late) % 7 + 1);
            }
        }
    }
    (answer, n)
}

enum To {
    Stage(ActorRef<u64>),
    Integrator(usize, ActorRef<(usize, u64)>),
}

enum Kind {
    Delay(Vec<u64>),
    Filter { coefficients: Vec<u64>, kept: Vec<u64>, full: bool },
    Sampler,
}

struct Stage;
struct StageState {
    to: To,
    kind: Kind,
    at: usize,
}

impl StageState {
    fn pass(&self, value: u64) {
        match &self.to {
            To::Stage(next) => tell(next, value),
            To::Integrator(channel, next) => tell(next, (*channel, value)),
        }
    }
}

// excerpt savina-filterbank
impl Actor for Stage {
    type Msg = u64;
    starts_with!(StageState);
    async fn handle(&self, _: ActorRef<u64>, value: u64, state: &mut StageState) -> Done {
        let at = state.at;
        let passed = match &mut state.kind {
            Kind::Delay(kept) => {
                state.at = (at + 1) % kept.len();
                Some(replace(&mut kept[at], value))
            }
            Kind::Filter { coefficients, kept, full } => {
                kept[at] = value;
                state.at = (at + 1) % COLUMNS;
                *full |= state.at == 0;
                full.then(|| kept.iter().zip(coefficients.iter()).map(|(a, b)| a * b).sum())
            }
            Kind::Sampler => {
                state.at = (at + 1) % COLUMNS;
                Some(if at == 0 { value } else { 0 })
            }
        };
        if let Some(value) = passed {
            state.pass(value);
        }
        Ok(())
    }
}
// excerpt end

struct Integrator;
struct IntegratorState {
    seen: [usize; CHANNELS as usize],
    open: VecDeque<(u64, u64)>,
    first: usize, // the number of the first open sum
    outputs: usize,
    answer: u64,
    whole: Arc<Finish>,
}

/// The integrator and the sink.
impl Actor for Integrator {
    type Msg = (usize, u64);
    starts_with!(IntegratorState);
    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        (channel, value): Self::Msg,
        state: &mut IntegratorState,
    ) -> Done {
        let k = state.seen[channel];
        state.seen[channel] += 1;
        if k - state.first == state.open.len() {
            state.open.push_back((0, 0));
        }
        let open = &mut state.open[k - state.first];
        open.0 += value;
        open.1 += 1;
        if open.1 == CHANNELS {
            state.answer += open.0 * (k as u64 % 7 + 1);
            state.open.pop_front();
            state.first += 1;
            if state.first == state.outputs {
                state.whole.one_more(state.answer);
            }
        }
        Ok(())
    }
}

pub async fn run(n: u64) -> u64 {
    let whole = Finish::after(1);
    let mut all = Company::default();
    let sums = IntegratorState {
        seen: [0; CHANNELS as usize],
        open: VecDeque::new(),
        first: 0,
        outputs: n as usize - 2 * (COLUMNS - 1),
        answer: 0,
        whole: whole.clone(),
    };
    let integrator = all.start(Integrator, sums).await;
    let mut banks = Vec::new();
    for channel in 0..CHANNELS {
        let filter = |second| Kind::Filter {
            coefficients: coefficients(channel, second),
            kept: vec![0; COLUMNS],
            full: false,
        };
        let delay = || Kind::Delay(vec![0; COLUMNS - 1]);
        let mut to = To::Integrator(channel as usize, integrator.clone());
        for kind in [filter(true), delay(), Kind::Sampler, filter(false), delay()] {
            to = To::Stage(all.start(Stage, StageState { to, kind, at: 0 }).await);
        }
        if let To::Stage(first) = to {
            banks.push(first);
        }
    }
    for k in 0..n {
        for bank in &banks {
            tell(bank, k % 1000);
        }
    }
    let answer = whole.wait().await;
    all.end().await;
    answer
}
