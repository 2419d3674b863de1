# SPDX-License-Identifier: Apache-2.0
"""The work of the simulated contexts: parallel loops, forks of two equal pieces, forks behind a
long leaf, and trees of forks.

Each function is a generator that runs inside a context (`Strand`); forks.py has its requests.
"""

from forks import join, pop, push
from kernel import COMPUTE
from runtime import Slot

# chunk_sizer.hpp
CHUNK_US = 10.0
GROWTH = 16
ALIGNMENT = 64


def run_range(rt, strand, first, last, element_us):
    """lazy_loop.hpp, run_range: before each chunk, a fork of the rest."""
    events = rt.events
    fork_us = rt.machine.fork_us
    since = events.now
    end = min(first + 1, last)
    while True:
        if end >= last:
            yield (COMPUTE, (end - first) * element_us)
            return
        slot = Slot(
            lambda rt, thief, end=end: run_stolen_range(rt, thief, end, last, element_us)
        )
        cost = push(rt, strand, slot)
        yield (COMPUTE, (end - first) * element_us + fork_us + cost)
        if not (yield from pop(rt, strand)):
            yield from join(rt, strand, slot)
            return
        took = events.now - since
        since = events.now
        count = end - first
        in_target = int(count * CHUNK_US / took)
        at_most = count * GROWTH
        aim, least = min(in_target, at_most), min(in_target // 4, at_most)
        size = max(min(aim, (last - end) // 16), least, 1)
        first, end = end, min(end + size, last)


def run_stolen_range(rt, strand, first, last, element_us):
    """lazy_loop.hpp, run_stolen: the thief offers the upper half, and runs the lower one."""
    unit = ALIGNMENT if last - first >= 8 * ALIGNMENT else 1
    half = first + (last - first) // 2
    half = min(half + -half % unit, last)
    if half in (first, last):
        yield from run_range(rt, strand, first, last, element_us)
        return
    slot = Slot(lambda rt, thief: run_range(rt, thief, half, last, element_us))
    cost = push(rt, strand, slot)
    if cost:
        yield (COMPUTE, cost)
    yield from run_range(rt, strand, first, half, element_us)
    if (yield from pop(rt, strand)):
        yield from run_range(rt, strand, half, last, element_us)
    else:
        yield from join(rt, strand, slot)


def compute(_rt, _strand, us):
    yield (COMPUTE, us)


def fork_two(rt, strand, us):
    """lab/sweep/programs/little_parallelism.cpp: two pieces of the same length."""
    slot = Slot(lambda rt, thief: compute(rt, thief, us))
    cost = push(rt, strand, slot)
    yield (COMPUTE, us + rt.machine.fork_us + cost)
    if (yield from pop(rt, strand)):
        yield (COMPUTE, us)
    else:
        yield from join(rt, strand, slot)


def nest(rt, strand, depth, leaf_us, child_us, note_begin):
    """lab/sweep/programs/long_leaves.cpp: forks, and then a long leaf."""

    def child(_rt, _strand):
        note_begin()
        yield (COMPUTE, child_us)

    if depth == 0:
        yield (COMPUTE, leaf_us)
        return
    slot = Slot(child)
    cost = push(rt, strand, slot)
    if cost:
        yield (COMPUTE, cost)
    yield from nest(rt, strand, depth - 1, leaf_us, child_us, note_begin)
    if (yield from pop(rt, strand)):
        yield from child(rt, strand)
    else:
        yield from join(rt, strand, slot)


def tree(rt, strand, us, grain_us, share):
    """Divisible work: a fork for `share()` of the work, and the rest, down to pieces of a grain. A
    real program answers a steal request at its next fork, so the grain has to be short."""
    if us <= grain_us:
        yield (COMPUTE, us)
        return
    forked = us * share()
    slot = Slot(lambda rt, thief: tree(rt, thief, forked, grain_us, share))
    cost = push(rt, strand, slot)
    if cost:
        yield (COMPUTE, cost)
    yield from tree(rt, strand, us - forked, grain_us, share)
    if (yield from pop(rt, strand)):
        yield from tree(rt, strand, forked, grain_us, share)
    else:
        yield from join(rt, strand, slot)
