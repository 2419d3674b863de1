# SPDX-License-Identifier: Apache-2.0
"""The simulated runs: a runtime of workers, a program of lab/sweep, and the figures of a unit."""

import random
from dataclasses import dataclass

from events import Events
from kernel import COMPUTE, Kernel
from programs import fork_two, nest, run_range, tree
from runtime import COUNTED, Runtime, Strand
from worker import run_worker

ELEMENT_US = 1.0  # lab/sweep/programs/phases.hpp


@dataclass
class Result:
    """The median time of a unit, and its counts."""

    us: float
    units: int
    counts: dict


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


class Run:
    """A simulated process, before its workers have begun."""

    def __init__(self, machine, policy, workers, seed):
        rng = random.Random(seed)
        self.events = Events()
        self.kernel = Kernel(self.events, machine, machine.processors, rng)
        self.rt = Runtime(self.kernel, policy, workers, rng)
        self.over = False

    def add(self, index, program):
        """Worker `index` begins with the context that runs `program(strand)`."""
        strand = Strand(None)
        strand.body = program(strand)
        self.rt.workers[index].next_strand = strand

    def go(self):
        for worker in self.rt.workers:
            worker.thread = self.kernel.start(run_worker(self.rt, worker))
        self.events.run(lambda: self.over)


class Meter:
    """The counts from the first measured unit to the last one."""

    def __init__(self, run, warm_up, units):
        self.run, self.warm_up, self.units = run, warm_up, units
        self.seen = 0
        self.before = None
        self.took = []

    def note(self, us):
        """A unit took so long. Notes the counts at the begin and the end of the measured units."""
        self.seen += 1
        if self.seen > self.warm_up:
            self.took.append(us)
        if self.seen == self.warm_up:
            self.before = dict(self.run.rt.counts)
        if len(self.took) == self.units:
            self.run.over = True

    def result(self, unit_us=None):
        counts = self.run.rt.counts
        made = {key: (counts[key] - self.before[key]) / len(self.took) for key in COUNTED}
        return Result(median(self.took) if unit_us is None else unit_us, len(self.took), made)


def phases(machine, policy, workers, loop_us, gap_us, units, seed=1):
    """Parallel loops of `loop_us` with gaps."""
    run = Run(machine, policy, workers, seed)
    meter = Meter(run, max(2, units // 10) if units > 2 else 1, units)
    elements = int(workers * loop_us / ELEMENT_US)

    def program(strand):
        while True:
            start = run.events.now
            yield from run_range(run.rt, strand, 0, elements, ELEMENT_US)
            meter.note(run.events.now - start)
            yield (COMPUTE, gap_us)

    run.add(0, program)
    run.go()
    return meter.result()


def little_parallelism(machine, policy, workers, fibers, work_us, units, seed=1):
    """`fibers` fibers that fork one child each, again and again."""
    run = Run(machine, policy, workers, seed)
    meter = Meter(run, units // 10 + 1, units)
    begun = [0.0]

    def program(strand):
        while True:
            start = run.events.now
            yield from fork_two(run.rt, strand, work_us)
            if meter.seen == meter.warm_up:
                begun[0] = start
            meter.note(run.events.now - start)

    for index in range(fibers):
        run.add(index, program)
    run.go()
    return meter.result((run.events.now - begun[0]) * fibers / units)


def long_leaves(machine, policy, workers, owners, depth, leaf_us, child_us, units, seed=1):
    """`owners` fibers that fork children before a long leaf. Also returns the time until nine of
    ten children have begun."""
    run = Run(machine, policy, workers, seed)
    meter = Meter(run, units // 10 + 1, units)
    began = []

    def program(strand):
        while True:
            start = run.events.now
            yield from nest(
                run.rt,
                strand,
                depth,
                leaf_us,
                child_us,
                lambda: began.append(run.events.now - start),
            )
            meter.note(run.events.now - start)

    for index in range(owners):
        run.add(index, program)
    run.go()
    return meter.result(), sorted(began)[int(0.9 * len(began))]


def fork_tree(machine, policy, workers, work_us, grain_us, share, seed=1):
    """One tree of forks with `work_us` of work; all workers have parked before."""
    run = Run(machine, policy, workers, seed)
    meter = Meter(run, 1, 1)
    shares = random.Random(seed + 1)
    draw = (lambda: share) if share is not None else (lambda: 0.05 + 0.9 * shares.random())

    def program(strand):
        yield (COMPUTE, 2000.0)
        meter.note(0.0)
        start = run.events.now
        yield from tree(run.rt, strand, work_us, grain_us, draw)
        meter.note(run.events.now - start)

    run.add(0, program)
    run.go()
    return meter.result()
