// SPDX-License-Identifier: Apache-2.0
//! ractor: an actor for each actor, on tokio's threads. Its mailboxes have no bound. A sender of
//! many messages therefore sends 64, and then sends itself a message to continue, as Sennit's does.

use lab::fibers::{main as program, parts, Fibers, RING, SENDERS, WORK_TOKENS};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

struct Ractor(Runtime);

/// Where the actors of one run leave their result, and where the program waits for it.
struct Finish {
    answer: AtomicU64,
    left: AtomicU64,
    done: Notify,
}

impl Finish {
    fn after(parts: u64) -> Arc<Finish> {
        Arc::new(Finish {
            answer: AtomicU64::new(0),
            left: AtomicU64::new(parts),
            done: Notify::new(),
        })
    }
    fn one_more(&self, part: u64) {
        self.answer.fetch_add(part, Relaxed);
        if self.left.fetch_sub(1, std::sync::atomic::Ordering::AcqRel) == 1 {
            self.done.notify_one();
        }
    }
    async fn wait(&self) -> u64 {
        self.done.notified().await;
        self.answer.load(Relaxed)
    }
}

type Done = Result<(), ActorProcessingErr>;

/// The state of the actor is its start argument.
macro_rules! starts_with {
    ($state:ty) => {
        type State = $state;
        type Arguments = $state;
        async fn pre_start(
            &self,
            _: ActorRef<Self::Msg>,
            start: $state,
        ) -> Result<$state, ActorProcessingErr> {
            Ok(start)
        }
    };
}

mod savina;
mod servants;

async fn start<A: Actor>(actor: A, with: A::Arguments) -> (ActorRef<A::Msg>, JoinHandle<()>) {
    Actor::spawn(None, actor, with).await.expect("an actor without a name starts")
}

fn tell<M: ractor::Message>(to: &ActorRef<M>, message: M) {
    to.send_message(message).expect("the actor lives");
}

// ---- rings

struct RingNode;
enum Ring {
    Next(ActorRef<Ring>),
    Token(u64),
    Work(u64, u64),
}
struct RingState {
    number: u64,
    next: Option<ActorRef<Ring>>,
    whole: Arc<Finish>,
}

fn some_work(mut seed: u64) -> u64 {
    for _ in 0..530 {
        seed =
            (seed ^ seed >> 33).wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    seed
}

impl Actor for RingNode {
    type Msg = Ring;
    starts_with!(RingState);
    async fn handle(&self, _: ActorRef<Ring>, message: Ring, state: &mut RingState) -> Done {
        let next = || state.next.as_ref().expect("the ring is closed first");
        match message {
            Ring::Next(next) => state.next = Some(next),
            Ring::Token(0) => state.whole.one_more(state.number),
            Ring::Token(hops) => tell(next(), Ring::Token(hops - 1)),
            Ring::Work(0, seed) => state.whole.one_more((seed != 0) as u64),
            Ring::Work(hops, seed) => tell(next(), Ring::Work(hops - 1, some_work(seed) | 1)),
        }
        Ok(())
    }
}

/// Sends tokens around 503 actors, from evenly spread actors.
async fn ring(tokens: u64, token: impl Fn(u64) -> Ring) -> u64 {
    let whole = Finish::after(tokens);
    let (mut nodes, mut handles) = (Vec::new(), Vec::new());
    for number in 1..=RING {
        let (node, handle) =
            start(RingNode, RingState { number, next: None, whole: whole.clone() }).await;
        nodes.push(node);
        handles.push(handle);
    }
    for (i, node) in nodes.iter().enumerate() {
        tell(node, Ring::Next(nodes[(i + 1) % nodes.len()].clone()));
    }
    for i in 0..tokens {
        tell(&nodes[(i * RING / tokens) as usize], token(i));
    }
    let answer = whole.wait().await;
    for node in &nodes {
        node.stop(None);
    }
    for handle in handles {
        handle.await.expect("no actor panics");
    }
    answer
}

async fn parallel_ring(n: u64) -> u64 {
    let hops = parts(n, RING);
    match ring(RING, |_| Ring::Token(hops)).await {
        sum if sum == RING * (RING + 1) / 2 => hops * RING,
        _ => u64::MAX,
    }
}

async fn ring_work(n: u64) -> u64 {
    let hops = parts(n, WORK_TOKENS);
    match ring(WORK_TOKENS, |i| Ring::Work(hops, i + 1)).await {
        WORK_TOKENS => hops * WORK_TOKENS,
        _ => u64::MAX,
    }
}

// ---- ping-pong

struct Player;
struct Ball {
    left: u64,
    from: ActorRef<Ball>,
}

impl Actor for Player {
    type Msg = Ball;
    starts_with!((u64, Arc<Finish>));
    async fn handle(
        &self,
        me: ActorRef<Ball>,
        ball: Ball,
        (sent, whole): &mut (u64, Arc<Finish>),
    ) -> Done {
        if ball.left > 0 {
            *sent += 1;
            tell(&ball.from, Ball { left: ball.left - 1, from: me.clone() });
        }
        if ball.left <= 1 {
            whole.one_more(*sent);
            me.stop(None);
        }
        Ok(())
    }
}

async fn ping_pong(n: u64) -> u64 {
    let whole = Finish::after(2);
    let (a, first) = start(Player, (0, whole.clone())).await;
    let (b, second) = start(Player, (0, whole.clone())).await;
    tell(&b, Ball { left: n, from: a });
    first.await.expect("no actor panics");
    second.await.expect("no actor panics");
    whole.wait().await
}

// ---- streams

struct Gatherer;
enum Stream {
    Number(u64),
    Result,
}
/// Ends after `expected` numbers. If `expected` is 0, it ends when it is asked for the sum.
struct GathererState {
    expected: u64,
    seen: u64,
    sum: u64,
    whole: Arc<Finish>,
}

impl Actor for Gatherer {
    type Msg = Stream;
    starts_with!(GathererState);
    async fn handle(
        &self,
        me: ActorRef<Stream>,
        message: Stream,
        state: &mut GathererState,
    ) -> Done {
        match message {
            Stream::Number(number) => {
                state.sum += number;
                state.seen += 1;
                if state.seen == state.expected {
                    state.whole.one_more(state.seen);
                    me.stop(None);
                }
            }
            Stream::Result => {
                state.whole.one_more(state.sum);
                me.stop(None);
            }
        }
        Ok(())
    }
}

struct Source;
struct More;
struct SourceState {
    to: ActorRef<Stream>,
    next: u64,
    end: u64,
    last: bool,
}

impl Actor for Source {
    type Msg = More;
    starts_with!(SourceState);
    async fn handle(&self, me: ActorRef<More>, _: More, state: &mut SourceState) -> Done {
        for _ in 0..64 {
            if state.next < state.end {
                tell(&state.to, Stream::Number(state.next));
                state.next += 1;
            }
        }
        if state.next < state.end {
            tell(&me, More);
        } else {
            if state.last {
                tell(&state.to, Stream::Result);
            }
            me.stop(None);
        }
        Ok(())
    }
}

/// `sources` actors each send the numbers below `end` to one actor.
async fn stream(sources: u64, end: u64, expected: u64) -> u64 {
    let whole = Finish::after(1);
    let (to, handle) =
        start(Gatherer, GathererState { expected, seen: 0, sum: 0, whole: whole.clone() }).await;
    let mut handles = vec![handle];
    for _ in 0..sources {
        let (source, handle) =
            start(Source, SourceState { to: to.clone(), next: 0, end, last: expected == 0 }).await;
        handles.push(handle);
        tell(&source, More);
    }
    for handle in handles {
        handle.await.expect("no actor panics");
    }
    whole.wait().await
}

// ---- births

struct Mayfly;

impl Actor for Mayfly {
    type Msg = u64;
    starts_with!((u64, Arc<Finish>));
    async fn handle(
        &self,
        me: ActorRef<u64>,
        number: u64,
        (last, whole): &mut (u64, Arc<Finish>),
    ) -> Done {
        if number == *last {
            whole.one_more(number);
        } else {
            let (next, _) = start(Mayfly, (*last, whole.clone())).await;
            tell(&next, number + 1);
        }
        me.stop(None);
        Ok(())
    }
}

async fn storm(n: u64) -> u64 {
    let whole = Finish::after(1);
    let (first, _) = start(Mayfly, (n, whole.clone())).await;
    tell(&first, 1);
    whole.wait().await
}

struct Node;
enum Tree {
    Grow(u64, u64),
    Sum(u64),
}
enum Above {
    Node(ActorRef<Tree>),
    Root(Arc<Finish>),
}
struct NodeState {
    above: Above,
    sum: u64,
    seen: u64,
}

impl NodeState {
    fn end(&self, me: &ActorRef<Tree>, sum: u64) {
        match &self.above {
            Above::Node(node) => tell(node, Tree::Sum(sum)),
            Above::Root(whole) => whole.one_more(sum),
        }
        me.stop(None);
    }
}

impl Actor for Node {
    type Msg = Tree;
    starts_with!(NodeState);
    async fn handle(&self, me: ActorRef<Tree>, message: Tree, state: &mut NodeState) -> Done {
        match message {
            Tree::Grow(first, 1) => state.end(&me, first),
            Tree::Grow(first, leaves) => {
                let part = leaves / 10;
                for i in 0..10 {
                    let (child, _) =
                        start(Node, NodeState { above: Above::Node(me.clone()), sum: 0, seen: 0 })
                            .await;
                    tell(&child, Tree::Grow(first + i * part, part));
                }
            }
            Tree::Sum(sum) => {
                state.sum += sum;
                state.seen += 1;
                if state.seen == 10 {
                    state.end(&me, state.sum);
                }
            }
        }
        Ok(())
    }
}

async fn skynet(leaves: u64) -> u64 {
    let whole = Finish::after(1);
    let (root, _) =
        start(Node, NodeState { above: Above::Root(whole.clone()), sum: 0, seen: 0 }).await;
    tell(&root, Tree::Grow(0, leaves));
    whole.wait().await
}

impl Fibers for Ractor {
    fn start(threads: usize) -> Ractor {
        Ractor(
            Builder::new_multi_thread()
                .worker_threads(threads)
                .enable_time()
                .build()
                .expect("tokio's threads start"),
        )
    }

    fn known(workload: &str, n: u64) -> Option<(u64, u64)> {
        savina::known(workload, n)
    }

    fn run(&self, workload: &str, n: u64) -> Option<u64> {
        // The work runs in a task, because block_on runs its own future outside the workers.
        let task = match workload {
            "thread-ring" => self.0.spawn(async move { ring(1, |_| Ring::Token(n)).await }),
            "parallel-thread-ring" => self.0.spawn(parallel_ring(n)),
            "ping-pong" => self.0.spawn(ping_pong(n)),
            "counting-actor" => self.0.spawn(stream(1, n, 0)),
            "fan-in" => {
                self.0.spawn(stream(SENDERS, parts(n, SENDERS), parts(n, SENDERS) * SENDERS))
            }
            "spawn-storm" => self.0.spawn(storm(n)),
            "producer-consumer" => self.0.spawn(servants::producer_consumer(n)),
            "prime-factors" => self.0.spawn(servants::prime_factors(n)),
            "mixed-scenario" => self.0.spawn(servants::mixed(n)),
            "skynet-actor" => self.0.spawn(skynet(n)),
            "ring-work" => self.0.spawn(ring_work(n)),
            _ => match savina::of(workload, n) {
                Some(task) => self.0.spawn(task),
                None => return None,
            },
        };
        Some(self.0.block_on(task).unwrap())
    }
}

fn main() -> ExitCode {
    program::<Ractor>()
}
