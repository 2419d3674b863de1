#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the number of stacks that are live at once in a tree of fibers that block, with and
without each rule of the order of work.

  models/live_stacks.py            prints tables: the most live stacks with all rules, and without
                                   some
  models/live_stacks.py --check    exits with 1 if the model with all rules breaks the bound, or if
                                   the model without rule R1 or R2 keeps it

README.md beside this file lists the parts that the model leaves out. The names of functions are
those of src/core/worker/worker.cpp and src/core/queues/run_queue.hpp, whose order of work the model
repeats:

  R1  A worker whose fiber blocks continues with a ready fiber before it begins a new one.
      (run_queue::pop_ready_if)
  R2  A new fiber stays new, and behind the thief's own, when a thief takes it.
      (run_queue::append_batch)
  R3  A global poll begins a new fiber that a worker gave away at most once a clock tick.
      (worker::poll_global_sources)
"""

import argparse
import collections
import heapq
import random
import sys

GLOBAL_POLL_INTERVAL = 61  # picks from one global poll to the next: tuning::global_poll_interval
SHARE_NS = 3_000  # tuning::share_ns
# tuning::take_after_ns: a thief steals from a worker that picks nothing for so long.
STEAL_AFTER_NS = 4_000
TICK_NS = 1_000_000  # the coarse clock, as fine as Linux has it
SPAWN_NS = 30  # to spawn one child
WORK_NS = 60  # a fiber's work before it spawns or answers
RESUME_NS = 40  # a fiber's work after it has waited
NEW_STACK_NS = 1_000  # the page faults of a stack's first use
LONG_NS = 10_000  # the mean that a long piece takes more: page faults, or a lost processor
FIRST_LOOK_NS, LAST_LOOK_NS = 1_000, 20_000  # between two looks of an idle worker; the gap doubles
BEGAN_ELSEWHERE = 1 << 62  # run_queue::began_elsewhere

MACHINES = {"quiet": 0.002, "busy": 0.5}  # the share of pieces that are long
WORKERS = (1, 2, 4, 8, 16, 32, 64)
SEEDS = (1, 2, 3, 4, 5)
BOUND = 2  # stacks <= BOUND * workers * stacks of one worker, with all rules


class Node:
    """A fiber, which spawns its children, receives one value from each, and sends one upwards."""

    __slots__ = ("parent", "parts", "seed", "begun", "order", "left", "senders", "receives", "sent")

    def __init__(self, parent, parts, seed):
        self.parent, self.parts, self.seed = parent, parts, seed
        self.begun = False
        self.order = 0
        self.left = 0  # values that it still has to receive
        self.senders = collections.deque()  # children that wait until it receives
        self.receives = False  # it waits for a value
        self.sent = False  # its parent has its value: it only has to end


def even(size, _seed):
    """Ten children of the same size, or none."""
    return [size // 10] * 10 if size > 1 else []


def unequal(size, seed):
    """Up to three children; one of them has 81 % to 100 % of the rest."""
    rest = size - 1
    most = rest - rest * (mixed(seed) % 20) // 100
    less = (rest - most) // 2
    parts = [most, less, rest - most - less]
    at = mixed(seed + 1) % 3
    parts[0], parts[at] = parts[at], parts[0]
    return [part for part in parts if part > 0]


def mixed(seed):
    """A number that depends on the seed only, so that a tree does not depend on the scheduler."""
    seed = (seed + 0x9E3779B97F4A7C15) & MASK  # splitmix64
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB & MASK
    return seed ^ (seed >> 31)


MASK = (1 << 64) - 1
TREES = {"even": (even, 10_000), "unequal": (unequal, 10_000)}  # leaves, and nodes


class Worker:
    def __init__(self, index):
        self.index = index
        self.ready = collections.deque()  # oldest first
        self.spawned = collections.deque()  # oldest first; the owner takes the newest
        self.next_order = 1
        self.turns = 0
        self.next_global_poll = GLOBAL_POLL_INTERVAL
        self.own_first = self.new_is_next = False
        self.asked = False  # an idle worker has asked for work
        self.began_oldest = self.began_given = 0  # the ticks in which a global poll last did so
        self.pace = (0, 0, None)  # of the last request for work: time, turn, oldest new work
        self.runs = None  # the node that runs until the next event; None: idle
        self.since = 0
        self.gap = FIRST_LOOK_NS

    def size(self):
        return len(self.ready) + len(self.spawned)


class Model:
    def __init__(self, workers, tree, machine, seed, without=()):
        self.r1, self.r2, self.r3 = (rule not in without for rule in ("R1", "R2", "R3"))
        self.split, size = TREES[tree]
        self.long_share = MACHINES[machine]
        self.rng = random.Random(seed)
        self.workers = [Worker(i) for i in range(workers)]
        self.shared = collections.deque()  # begun work, and the root
        self.given = collections.deque()  # new work that workers gave away
        self.shared.append(Node(None, self.split(size, seed), seed))
        self.live = self.most = 0
        self.now = 0
        self.events = [(0, i) for i in range(workers)]
        self.over = False

    def run(self):
        """The most stacks that are live at once: of blocked fibers, and one for each worker."""
        while not self.over:
            self.now, index = heapq.heappop(self.events)
            worker = self.workers[index]
            blocked = False
            if worker.runs:
                blocked = self.advance(worker, worker.runs)
                if not blocked:
                    self.live -= 1
            self.pick(worker, blocked)
        return self.most + len(self.workers)

    # ---- the steps of a fiber

    def push_spawned(self, worker, node):
        node.order = worker.next_order
        worker.next_order += 1
        worker.spawned.append(node)

    def advance(self, worker, node):
        """Runs the node up to its next wait or to its end. True: the node is blocked."""
        if node.sent:
            return False
        if not node.begun:
            node.begun = True
            node.left = len(node.parts)
            for part in node.parts:
                node.seed = mixed(node.seed)
                self.push_spawned(worker, Node(node, self.split(part, node.seed), node.seed))
            node.parts = None
        while node.left > 0:
            if not node.senders:
                node.receives = True
                return True
            child = node.senders.popleft()
            child.sent = True
            worker.ready.append(child)
            node.left -= 1
        parent = node.parent
        if parent is None:
            self.over = True
        elif parent.receives:
            parent.receives = False
            parent.left -= 1
            worker.ready.append(parent)
        else:
            parent.senders.append(node)
            return True
        return False

    def duration(self, node, stack_is_new):
        mean = RESUME_NS if node.begun else WORK_NS + SPAWN_NS * len(node.parts)
        ns = mean * self.rng.uniform(0.5, 1.5) + NEW_STACK_NS * stack_is_new
        if self.rng.random() < self.long_share:
            ns += self.rng.expovariate(1 / LONG_NS)
        return int(ns) + 1

    # ---- the choice of the next task

    def pick(self, worker, blocked):
        node = self.next_ready_context(worker) if blocked else None
        node = node or self.run_next_task(worker)
        worker.runs = node
        worker.since = self.now
        if node is None:
            return self.park_or_find_work(worker)
        worker.turns += 1
        worker.gap = FIRST_LOOK_NS
        stack_is_new = False
        if not node.begun:
            node.order = worker.next_order
            self.live += 1
            stack_is_new = self.live > self.most
            self.most = max(self.most, self.live)
        heapq.heappush(self.events, (self.now + self.duration(node, stack_is_new), worker.index))

    def next_ready_context(self, worker):
        if worker.turns >= worker.next_global_poll or (worker.asked and worker.size() > 1):
            return None
        if not worker.ready or not worker.ready[0].begun:
            return None
        if not self.r1 and not self.woken_goes_first(worker):
            return None
        return worker.ready.popleft()

    def run_next_task(self, worker):
        if worker.turns >= worker.next_global_poll and (node := self.poll_global_sources(worker)):
            return node
        if worker.asked and worker.size() > 1:
            self.share_half(worker)
        return self.pop(worker) or self.pop_global(True)

    @staticmethod
    def woken_goes_first(worker):
        if not worker.ready or not worker.spawned:
            return bool(worker.ready)
        return worker.spawned[-1].order < worker.ready[0].order

    def pop(self, worker):
        if self.woken_goes_first(worker):
            return worker.ready.popleft()
        return worker.spawned.pop() if worker.spawned else None

    def pop_global(self, given):
        if self.shared:
            return self.shared.popleft()
        return self.given.popleft() if given and self.given else None

    def poll_global_sources(self, worker):
        worker.next_global_poll = worker.turns + GLOBAL_POLL_INTERVAL
        tick = self.now // TICK_NS
        own_first, worker.own_first = worker.own_first, not worker.own_first
        if own_first and (node := self.pop_alternating(worker, tick)):
            return node
        given = not self.r3 or worker.began_given != tick
        worker.began_given = tick
        return self.pop_global(given) or (None if own_first else self.pop_alternating(worker, tick))

    @staticmethod
    def pop_alternating(worker, tick):
        worker.new_is_next = bool(worker.spawned) and (not worker.ready or not worker.new_is_next)
        if not worker.new_is_next:
            return worker.ready.popleft() if worker.ready else None
        oldest = worker.began_oldest != tick
        worker.began_oldest = tick
        return worker.spawned.popleft() if oldest else worker.spawned.pop()

    # ---- how work comes to another worker

    def take(self, worker, count):
        """Takes a number of nodes: the ready ones first, and then the oldest new ones."""
        ready = [worker.ready.popleft() for _ in range(min(count, len(worker.ready)))]
        count = min(count - len(ready), len(worker.spawned))
        spawned = [worker.spawned.popleft() for _ in range(count)]
        for node in ready:
            node.order = BEGAN_ELSEWHERE
        for node in spawned:
            node.order = 0 if self.r2 else BEGAN_ELSEWHERE
        return ready, spawned

    def share_half(self, worker):
        worker.asked = False
        asked, turns, oldest = worker.pace
        past, done = self.now - asked, worker.turns - turns
        if past < SHARE_NS:
            return
        new = worker.spawned[0] if worker.spawned else None
        worker.pace = (self.now, worker.turns, new)
        if not (new and new is oldest) and done > 0 and past // done * worker.size() < SHARE_NS:
            return
        ready, spawned = self.take(worker, worker.size() // 2)
        self.shared.extend(ready)
        (self.given if self.r3 else self.shared).extend(spawned)

    def steal_tasks(self, worker, victim):
        ready, spawned = self.take(victim, (victim.size() + 1) // 2)
        worker.ready.extend(ready)
        if self.r2:
            worker.spawned.extendleft(reversed(spawned))
        else:
            worker.ready.extend(spawned)

    def park_or_find_work(self, worker):
        """An idle worker asks all workers for work, and steals from a worker that is stuck."""
        for other in self.workers:
            if other is worker:
                continue
            other.asked = True
            if other.runs and other.size() > 0 and self.now - other.since > STEAL_AFTER_NS:
                self.steal_tasks(worker, other)
                break
        gap = 1 if worker.size() else int(worker.gap * self.rng.uniform(0.75, 1.25))
        worker.gap = min(2 * worker.gap, LAST_LOOK_NS)
        heapq.heappush(self.events, (self.now + gap, worker.index))


def most_stacks(workers, tree, machine, without=(), seeds=SEEDS):
    return max(Model(workers, tree, machine, seed, without).run() for seed in seeds)


def print_tables():
    columns = ((), ("R1",), ("R2",), ("R3",), ("R2", "R3"))
    titles = ["workers", "all rules"] + ["without " + " and ".join(one) for one in columns[1:]]
    for tree in TREES:
        for machine in MACHINES:
            print(f"\n{tree} tree, {machine} machine\n\n| " + " | ".join(titles) + " |")
            print("|---" * len(titles) + "|")
            for workers in WORKERS:
                row = [most_stacks(workers, tree, machine, without) for without in columns]
                print("| " + " | ".join(f"{cell:,}" for cell in [workers] + row) + " |", flush=True)


def broken_bounds():
    """One sentence for each number of workers with which the rules do not keep the bound."""
    for tree in TREES:
        for machine in MACHINES:
            one = most_stacks(1, tree, machine)
            for workers in WORKERS[1:]:
                bound = BOUND * workers * one
                most = most_stacks(workers, tree, machine, seeds=SEEDS[:2])
                if most > bound:
                    yield (
                        f"{tree} tree, {machine} machine, {workers} workers: "
                        f"{most} stacks are live, the bound is {bound}"
                    )


def idle_rules():
    """One sentence for each rule whose absence does not break the bound of the model."""
    one = most_stacks(1, "even", "busy")
    for rule in ("R1", "R2"):
        seen = {workers: most_stacks(workers, "even", "busy", (rule,)) for workers in (2, 4)}
        if all(most <= BOUND * workers * one for workers, most in seen.items()):
            yield (
                f"even tree, busy machine, without {rule}: the bound holds, with "
                f"{seen[2]} stacks for 2 workers and {seen[4]} for 4; the model does not show "
                "what the rule prevents"
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="check the bound; print no tables")
    if not parser.parse_args().check:
        return print_tables()
    findings = [*broken_bounds(), *idle_rules()]
    for finding in findings:
        print("live_stacks.py: " + finding)
    if findings:
        sys.exit(1)
    print("live_stacks.py: the bound holds with all rules, and breaks without R1 or without R2")


if __name__ == "__main__":
    main()
