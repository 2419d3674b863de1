# SPDX-License-Identifier: Apache-2.0
"""The main job: every workload in every runtime found, many times, in random order."""

import random
from dataclasses import dataclass, field

from .build import NotInstalled
from .catalogue import RUNTIMES, WORKLOADS
from .execute import Failed, run_once
from .progress import progress

CELL_BUDGET, QUICK_CELL_BUDGET = 60.0, 0.5  # seconds of timed samples after which a slow cell is not repeated


@dataclass
class Cell:
    """One runtime, one workload of one size, one number of threads."""
    runtime: str
    workload: str
    size: str
    threads: int
    samples: list = field(default_factory=list)  # dictionaries as of run_once
    reason: str | None = None  # why the cell has no result
    status: str = "ok"  # else "not offered", "not installed", "DNF" (a limit struck, or it failed) or "wrong"

    def seconds(self):
        return [sample["seconds"] for sample in self.samples]

    @property
    def good(self):
        return self.status == "ok" and bool(self.samples)

    @property
    def title(self):
        return f"{self.workload}({self.size})"

    @property
    def title_of_runtime(self):
        return RUNTIMES[self.runtime].title

    @property
    def label(self):
        name = self.title_of_runtime
        if self.runtime == "serial":
            return name
        return f"{name}, {self.threads} worker" + "s" * (self.threads != 1)

    def stop(self, status, reason):
        self.status, self.reason = status, reason


@dataclass
class Plan:
    runtimes: list
    jobs: list  # pairs (workload, size)
    threads: list
    reps: int
    seed: int
    time_limit: float
    cell_budget: float = CELL_BUDGET


def jobs_for(names, quick, full):
    for name in names:
        workload = WORKLOADS[name]
        sizes = [workload.quick] if quick else workload.full if full and workload.full else [workload.default]
        yield from ((name, size) for size in sizes)


def cells_of(plan):
    for workload, size in plan.jobs:
        for name in plan.runtimes:
            threads = [1] if name == "serial" else plan.threads
            if RUNTIMES[name].ours and 1 not in threads:
                threads = [1, *threads]  # what one worker costs: over the plain function, or an operation of fibers
            for count in threads:
                cell = Cell(name, workload, size, count)
                if workload not in RUNTIMES[name].offers:
                    cell.stop("not offered", f"has no {workload}")
                yield cell


def _commands(cells, builder):
    """How to call each runtime; the cells of those that are not there are told why."""
    commands = {}
    cells = [cell for cell in cells if cell.status == "ok"]
    for name in dict.fromkeys(cell.runtime for cell in cells):
        try:
            commands[name] = builder.command(name)
        except NotInstalled as reason:
            for cell in cells:
                if cell.runtime == name:
                    cell.stop("not installed", str(reason))
    return commands


def _take_sample(cell, command, plan):
    """Adds a sample to the cell, or stops it; returns what to say."""
    if cell.status != "ok":
        return f"skipped, {cell.reason}"
    if sum(cell.seconds()) > plan.cell_budget:
        return "not repeated, slow and sampled enough"
    try:
        sample = run_once(command, cell.runtime, cell.workload, cell.size, cell.threads, plan.time_limit)
    except Failed as failure:
        cell.stop("DNF", str(failure))
        return cell.reason
    if not sample["ok"]:
        cell.stop("wrong", f"wrong answer {sample['answer']}")
        return cell.reason
    cell.samples.append(sample)
    return f"{sample['seconds']:.4f} s"


def run_plan(plan, builder):
    """All cells, with samples or with a reason. Each repetition is a block of all cells in an order of its own."""
    cells = list(cells_of(plan))
    commands = _commands(cells, builder)
    block = [cell for cell in cells if cell.status == "ok"]
    rng = random.Random(plan.seed)
    with progress(plan.reps * len(block)) as shown:
        for _ in range(plan.reps):
            rng.shuffle(block)
            for cell in block:
                what = f"{cell.label}: {cell.title}"
                shown.begin(what)
                shown.end(what, _take_sample(cell, commands[cell.runtime], plan))
    return cells
