// SPDX-License-Identifier: Apache-2.0
//! Actors that work for each other: a bounded buffer, a pool, and rings with a worker beside each
//! ring.

use crate::{start, tell, Done, Finish};
use lab::fibers::{parts, share, MIXED_RINGS, SMALLEST_FACTOR};
use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, Message};
use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use tokio::task::JoinHandle;

const PRODUCERS: u64 = 5;
const CONSUMERS: u64 = 5;
const BUFFER: usize = 50;
const COMPOSITE: i64 = 600_213_349;
const PRIME_WORKERS: usize = 16;
const PRIME_BUFFERS: usize = 8;
const QUERIES_UNDER_WAY: usize = 32;
const MIXED_ACTORS: u64 = 100;

/// Hides the number from the compiler, which would otherwise specialise the function for it. The
/// other ports have no such function.
fn smallest_factor_of(number: i64) -> u64 {
    let number = black_box(number);
    let mut i = 2;
    while i * i <= number {
        if number % i == 0 {
            return i as u64;
        }
        i += 1;
    }
    number as u64
}

/// Actors that are ended together.
#[derive(Default)]
pub struct Company(Vec<(ActorCell, JoinHandle<()>)>);

impl Company {
    pub async fn start<A: Actor>(&mut self, actor: A, with: A::Arguments) -> ActorRef<A::Msg>
    where
        A::Msg: Message,
    {
        let (one, handle) = start(actor, with).await;
        self.0.push((one.get_cell(), handle));
        one
    }

    /// Stops all actors and returns when they have ended. No actor may send to them any more.
    pub async fn end(self) {
        for (one, _) in &self.0 {
            one.stop(None);
        }
        for (_, handle) in self.0 {
            handle.await.expect("no actor panics");
        }
    }
}

// ---- producer-consumer

struct Buffer;
enum AtBuffer {
    Offers(ActorRef<Room>, u64),
    Wants(ActorRef<AtConsumer>),
}
#[derive(Default)]
struct BufferState {
    items: VecDeque<u64>,
    waiting: VecDeque<ActorRef<AtConsumer>>,
    refused: VecDeque<(ActorRef<Room>, u64)>,
}

impl BufferState {
    fn move_on(&mut self) {
        loop {
            while self.items.len() < BUFFER {
                let Some((who, value)) = self.refused.pop_front() else { break };
                self.items.push_back(value);
                tell(&who, Room);
            }
            if self.waiting.is_empty() {
                return;
            }
            let Some(value) = self.items.pop_front() else { return };
            let who = self.waiting.pop_front().expect("a consumer waits");
            tell(&who, AtConsumer::Item(value));
        }
    }
}

impl Actor for Buffer {
    type Msg = AtBuffer;
    starts_with!(BufferState);
    async fn handle(
        &self,
        _: ActorRef<AtBuffer>,
        message: AtBuffer,
        state: &mut BufferState,
    ) -> Done {
        match message {
            AtBuffer::Offers(who, value) => state.refused.push_back((who, value)),
            AtBuffer::Wants(who) => state.waiting.push_back(who),
        }
        state.move_on();
        Ok(())
    }
}

struct Producer;
struct Room;

impl Actor for Producer {
    type Msg = Room;
    starts_with!((ActorRef<AtBuffer>, u64));
    async fn handle(
        &self,
        me: ActorRef<Room>,
        _: Room,
        (to, left): &mut (ActorRef<AtBuffer>, u64),
    ) -> Done {
        if *left > 0 {
            *left -= 1;
            tell(to, AtBuffer::Offers(me, *left));
        }
        Ok(())
    }
}

struct Consumer;
enum AtConsumer {
    Begin,
    Item(u64),
}
type ConsumerState = (ActorRef<AtBuffer>, Arc<Finish>);

impl Actor for Consumer {
    type Msg = AtConsumer;
    starts_with!(ConsumerState);
    async fn handle(
        &self,
        me: ActorRef<AtConsumer>,
        message: AtConsumer,
        (from, whole): &mut ConsumerState,
    ) -> Done {
        if let AtConsumer::Item(value) = message {
            black_box(value);
            whole.one_more(1);
        }
        tell(from, AtBuffer::Wants(me));
        Ok(())
    }
}

pub async fn producer_consumer(n: u64) -> u64 {
    let whole = Finish::after(n);
    let (mut consumers, mut others) = (Company::default(), Company::default());
    let buffer = others.start(Buffer, BufferState::default()).await;
    for i in 0..PRODUCERS {
        tell(&others.start(Producer, (buffer.clone(), share(n, PRODUCERS, i))).await, Room);
    }
    for _ in 0..CONSUMERS {
        tell(&consumers.start(Consumer, (buffer.clone(), whole.clone())).await, AtConsumer::Begin);
    }
    let answer = whole.wait().await;
    // The consumers end first, because they still ask the buffer, which has no items for them.
    consumers.end().await;
    others.end().await;
    answer
}

// ---- prime-factors

struct Lender;
enum AtLender {
    Need(ActorRef<AtWorker>),
    Back(Box<[u8; 64]>),
}
struct LenderState {
    free: Vec<Box<[u8; 64]>>,
    waiting: VecDeque<ActorRef<AtWorker>>,
}

impl Actor for Lender {
    type Msg = AtLender;
    starts_with!(LenderState);
    async fn handle(
        &self,
        _: ActorRef<AtLender>,
        message: AtLender,
        state: &mut LenderState,
    ) -> Done {
        match message {
            AtLender::Need(who) => match state.free.pop() {
                Some(buffer) => tell(&who, AtWorker::Lend(buffer)),
                None => state.waiting.push_back(who),
            },
            AtLender::Back(buffer) => match state.waiting.pop_front() {
                Some(who) => tell(&who, AtWorker::Lend(buffer)),
                None => state.free.push(buffer),
            },
        }
        Ok(())
    }
}

struct Dispatcher;
enum AtDispatcher {
    Idle(ActorRef<AtWorker>),
    Solved(ActorRef<AtWorker>, u64),
}
struct DispatcherState {
    left: u64,
    whole: Arc<Finish>,
}

impl Actor for Dispatcher {
    type Msg = AtDispatcher;
    starts_with!(DispatcherState);
    async fn handle(
        &self,
        _: ActorRef<AtDispatcher>,
        message: AtDispatcher,
        state: &mut DispatcherState,
    ) -> Done {
        let idle = match message {
            AtDispatcher::Idle(who) => who,
            AtDispatcher::Solved(who, factor) => {
                state.whole.one_more(factor);
                who
            }
        };
        if state.left > 0 {
            state.left -= 1;
            tell(&idle, AtWorker::Query);
        }
        Ok(())
    }
}

struct PrimeWorker;
enum AtWorker {
    Query,
    Lend(Box<[u8; 64]>),
}
type WorkerState = (ActorRef<AtDispatcher>, ActorRef<AtLender>);

impl Actor for PrimeWorker {
    type Msg = AtWorker;
    starts_with!(WorkerState);
    async fn handle(
        &self,
        me: ActorRef<AtWorker>,
        message: AtWorker,
        (client, server): &mut WorkerState,
    ) -> Done {
        match message {
            AtWorker::Query => tell(server, AtLender::Need(me)),
            AtWorker::Lend(buffer) => {
                let factor = smallest_factor_of(COMPOSITE);
                tell(server, AtLender::Back(buffer));
                tell(client, AtDispatcher::Solved(me, factor));
            }
        }
        Ok(())
    }
}

pub async fn prime_factors(n: u64) -> u64 {
    let whole = Finish::after(n);
    let mut all = Company::default();
    let free = (0..PRIME_BUFFERS).map(|_| Box::new([0; 64])).collect();
    let server = all.start(Lender, LenderState { free, waiting: VecDeque::new() }).await;
    let client = all.start(Dispatcher, DispatcherState { left: n, whole: whole.clone() }).await;
    let mut workers = Vec::new();
    for _ in 0..PRIME_WORKERS {
        workers.push(all.start(PrimeWorker, (client.clone(), server.clone())).await);
    }
    for i in 0..QUERIES_UNDER_WAY {
        tell(&client, AtDispatcher::Idle(workers[i % PRIME_WORKERS].clone()));
    }
    let answer = whole.wait().await;
    all.end().await;
    answer
}

// ---- mixed-scenario

struct Factoriser;
struct Factorise;

impl Actor for Factoriser {
    type Msg = Factorise;
    starts_with!(Arc<Finish>);
    async fn handle(&self, _: ActorRef<Factorise>, _: Factorise, whole: &mut Arc<Finish>) -> Done {
        // Counts the wrong factors.
        whole.one_more((smallest_factor_of(COMPOSITE) != SMALLEST_FACTOR) as u64);
        Ok(())
    }
}

struct MixedNode;
enum AtMixed {
    Next(ActorRef<AtMixed>),
    Token(u64),
}
struct MixedState {
    next: Option<ActorRef<AtMixed>>,
    worker: Option<ActorRef<Factorise>>, // only the first node of a ring has a worker
    hops: u64,
    rings: Arc<Finish>,
    counts: Arc<Finish>,
}

impl Actor for MixedNode {
    type Msg = AtMixed;
    starts_with!(MixedState);
    async fn handle(&self, _: ActorRef<AtMixed>, message: AtMixed, state: &mut MixedState) -> Done {
        match message {
            AtMixed::Next(next) => state.next = Some(next),
            AtMixed::Token(0) => state.rings.one_more(0),
            AtMixed::Token(left) => {
                if let (Some(worker), 0) = (&state.worker, left % MIXED_ACTORS) {
                    state.rings.left.fetch_add(1, Relaxed); // before the token's own part ends
                    tell(worker, Factorise);
                }
                state.hops += 1;
                tell(
                    state.next.as_ref().expect("the ring is closed first"),
                    AtMixed::Token(left - 1),
                );
            }
        }
        Ok(())
    }
    async fn post_stop(&self, _: ActorRef<AtMixed>, state: &mut MixedState) -> Done {
        state.counts.one_more(state.hops);
        Ok(())
    }
}

pub async fn mixed(n: u64) -> u64 {
    let (rings, counts) = (Finish::after(MIXED_RINGS), Finish::after(MIXED_RINGS * MIXED_ACTORS));
    let mut all = Company::default();
    for _ in 0..MIXED_RINGS {
        let mut nodes = Vec::new();
        for i in 0..MIXED_ACTORS {
            let worker =
                if i == 0 { Some(all.start(Factoriser, rings.clone()).await) } else { None };
            let state = MixedState {
                next: None,
                worker,
                hops: 0,
                rings: rings.clone(),
                counts: counts.clone(),
            };
            nodes.push(all.start(MixedNode, state).await);
        }
        for (i, node) in nodes.iter().enumerate() {
            tell(node, AtMixed::Next(nodes[(i + 1) % nodes.len()].clone()));
        }
        tell(&nodes[0], AtMixed::Token(parts(n, MIXED_RINGS)));
    }
    let wrong = rings.wait().await;
    all.end().await;
    match wrong {
        0 => counts.wait().await,
        _ => u64::MAX,
    }
}
