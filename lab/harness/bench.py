# SPDX-License-Identifier: Apache-2.0
"""The main job: every workload in every runtime found, many times, in random order."""

import random
import sys
from dataclasses import dataclass, field

from .build import NotInstalled
from .catalogue import RUNTIMES, WORKLOADS
from .execute import Failed, run_once


@dataclass
class Cell:
    """One runtime, one workload, one number of threads."""
    runtime: str
    workload: str
    size: str
    threads: int
    samples: list = field(default_factory=list)  # dictionaries as of run_once
    reason: str = None  # why there are no samples

    def seconds(self):
        return [sample["seconds"] for sample in self.samples]


@dataclass
class Plan:
    runtimes: list
    workloads: list
    sizes: dict  # workload -> size
    threads: list
    reps: int
    seed: int
    time_limit: float


CELL_BUDGET = 60.0  # seconds of timed samples after which a slow cell is not repeated


class Progress:
    """One line that is rewritten on a terminal, a line a run elsewhere."""

    def __init__(self, total, stream=sys.stderr):
        self.total, self.done, self.stream = total, 0, stream
        self.tty = stream.isatty()

    def step(self, text):
        self.done += 1
        line = f"[{self.done}/{self.total}] {text}"
        if self.tty:
            self.stream.write(f"\r\x1b[K{line}")
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def end(self):
        if self.tty:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def cells_of(plan):
    for workload in plan.workloads:
        for name in plan.runtimes:
            threads = [1] if name == "serial" else plan.threads
            if name == "sennit" and 1 not in threads:
                threads = [1, *threads]  # the overhead of one worker over the plain function
            for count in threads:
                yield Cell(name, workload, plan.sizes[workload], count)


def run_plan(plan, builder):
    """All cells, with samples or with a reason."""
    cells = list(cells_of(plan))
    commands = {}
    for name in plan.runtimes:
        try:
            commands[name] = builder.command(name)
        except NotInstalled as reason:
            for cell in cells:
                if cell.runtime == name:
                    cell.reason = f"not installed: {reason}"
    rng = random.Random(plan.seed)
    progress = Progress(plan.reps * sum(1 for cell in cells if not cell.reason))
    for _ in range(plan.reps):
        block = [cell for cell in cells if cell.runtime in commands]
        rng.shuffle(block)
        for cell in block:
            what = f"{RUNTIMES[cell.runtime].title}: {cell.workload}({cell.size}), {cell.threads} threads"
            if cell.reason:
                progress.step(f"{what}: skipped, {cell.reason}")
                continue
            if sum(cell.seconds()) > CELL_BUDGET:
                progress.step(f"{what}: enough samples of a slow run")
                continue
            try:
                sample = run_once(commands[cell.runtime], cell.runtime, cell.workload, cell.size, cell.threads,
                                  time_limit=plan.time_limit)
                if not sample["ok"]:
                    cell.reason = f"wrong answer: {sample['answer']}"
                else:
                    cell.samples.append(sample)
                progress.step(f"{what}: {cell.reason or format(sample['seconds'], '.4f') + ' s'}")
            except Failed as failure:
                cell.reason = str(failure)
                progress.step(f"{what}: {failure}")
    progress.end()
    return cells


def sizes_for(names, quick):
    return {name: WORKLOADS[name].quick if quick else WORKLOADS[name].default for name in names}
