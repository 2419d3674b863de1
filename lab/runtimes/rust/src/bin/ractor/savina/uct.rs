// SPDX-License-Identifier: Apache-2.0
//! savina-uct.

use super::Random;
use crate::{start, tell, Done, Finish};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::sync::Arc;

const MOST_CHILDREN: u64 = 10;

#[derive(Clone, Copy)]
struct Node {
    seed: u64,
    size: u64,
}

impl Node {
    fn work(self) -> u64 {
        let rounds = 400 + (self.seed >> 33) % 201;
        let mut numbers = Random(rounds);
        (0..rounds).map(|_| numbers.next()).sum()
    }
    fn children(self) -> Vec<Node> {
        let mut rest = self.size - 1;
        let count = rest.min(MOST_CHILDREN);
        let child = |i| {
            let seed = self.seed.wrapping_add(i + 1);
            let seed = (seed ^ seed >> 33)
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let most = rest - (count - i) + 1;
            let size = if i + 1 == count { rest } else { 1 + (seed >> 33) % most };
            rest -= size;
            Node { seed, size }
        };
        (0..count).map(child).collect()
    }
}

fn root(n: u64) -> Node {
    Node { seed: 1, size: n }
}

pub fn known(n: u64) -> (u64, u64) {
    let (mut sum, mut left) = (0, vec![root(n)]);
    while let Some(node) = left.pop() {
        sum += node.work();
        left.extend(node.children());
    }
    (sum, n)
}

struct TreeNode;
enum AtNode {
    Grow,
    HasGrown,
    Visit,
    Sum(u64),
}
struct NodeState {
    node: Node,
    above: Option<ActorRef<AtNode>>,
    children: Vec<ActorRef<AtNode>>,
    seen: usize,
    sum: u64,
    whole: Arc<Finish>,
}

impl NodeState {
    fn new(node: Node, above: Option<ActorRef<AtNode>>, whole: Arc<Finish>) -> NodeState {
        NodeState { node, above, children: Vec::new(), seen: 0, sum: 0, whole }
    }
    /// Returns true when all children have answered.
    fn one_more(&mut self) -> bool {
        self.seen += 1;
        self.seen == self.children.len()
    }
    fn grown(&self, me: &ActorRef<AtNode>) {
        match &self.above {
            Some(above) => tell(above, AtNode::HasGrown),
            None => tell(me, AtNode::Visit),
        }
    }
    fn end(&self, me: &ActorRef<AtNode>) {
        match &self.above {
            Some(above) => tell(above, AtNode::Sum(self.sum)),
            None => self.whole.one_more(self.sum),
        }
        me.stop(None);
    }
}

// excerpt savina-uct
impl Actor for TreeNode {
    type Msg = AtNode;
    starts_with!(NodeState);
    async fn handle(&self, me: ActorRef<AtNode>, message: AtNode, state: &mut NodeState) -> Done {
        match message {
            AtNode::Grow => {
                for node in state.node.children() {
                    let below = NodeState::new(node, Some(me.clone()), state.whole.clone());
                    let (child, _) = start(TreeNode, below).await;
                    tell(&child, AtNode::Grow);
                    state.children.push(child);
                }
                if state.children.is_empty() {
                    state.grown(&me);
                }
            }
            AtNode::HasGrown => {
                if state.one_more() {
                    state.grown(&me);
                }
            }
            AtNode::Visit => {
                state.seen = 0;
                state.sum = state.node.work();
                for child in &state.children {
                    tell(child, AtNode::Visit);
                }
                if state.children.is_empty() {
                    state.end(&me);
                }
            }
            AtNode::Sum(sum) => {
                state.sum += sum;
                if state.one_more() {
                    state.end(&me);
                }
            }
        }
        Ok(())
    }
}
// excerpt end

pub async fn run(n: u64) -> u64 {
    let whole = Finish::after(1);
    let (top, handle) = start(TreeNode, NodeState::new(root(n), None, whole.clone())).await;
    tell(&top, AtNode::Grow);
    handle.await.expect("no actor panics");
    whole.wait().await
}
