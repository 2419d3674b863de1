# SPDX-License-Identifier: Apache-2.0
"""The main job: every workload in every runtime found, many times, in random order."""

import math
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .build import Finder, NotInstalled, under_client
from .catalogue import RUNTIMES, SERIAL_FLOORS, WORKLOADS
from .declared import Runtime
from .execute import Failed, as_text, run_once
from .options import FEWEST
from .progress import Shown, progress
from .sentinel import sentinel
from .stats import relative_width

CELL_BUDGET, FULL_CELL_BUDGET, QUICK_CELL_BUDGET = (
    10.0,
    60.0,
    0.5,
)  # seconds of timed samples after which a slow cell is not repeated
LEAST, FULL_LEAST = FEWEST, 20  # samples before the width of the interval counts
PRECISION, FULL_PRECISION = 0.03, 0.01  # half of the interval of the median, relative to it
SAVE_EVERY = 60.0  # seconds between two times that an unfinished block is saved
NO_TIME = "not run: the budget of the whole run was used up"
MOST_PER_LEAST = (
    3  # a cell that does not get precise has so many times the least samples, and no more
)


@dataclass
class Cell:
    """One runtime, one workload of one size, one number of threads."""

    runtime: str
    workload: str
    size: str
    threads: int
    samples: list = field(
        default_factory=list
    )  # dictionaries as of run_once, with block and position
    reason: str | None = None  # why the cell has no result
    status: str = (
        "ok"  # else "not offered", "not installed", "DNF" (a limit struck, or it failed) or "wrong"
    )
    stopped: str | None = (
        None  # why sampling ended: "repetitions", "precise", "budget", "most", "gone" (the runtime)
    )

    def seconds(self) -> list[float]:
        return [sample["seconds"] for sample in self.samples]

    def by_block(self) -> dict[object, float]:
        """block -> seconds; a sample without a block has a key that no other cell has."""
        return {
            sample.get("block", (id(self), number)): sample["seconds"]
            for number, sample in enumerate(self.samples)
        }

    @property
    def good(self) -> bool:
        return self.status == "ok" and bool(self.samples)

    @property
    def title(self) -> str:
        return f"{self.workload}({self.size})"

    @property
    def title_of_runtime(self) -> str:
        return self.kind.title + (f" of {self.build}" if self.build else "")

    @property
    def kind(self) -> Runtime:
        """Of the catalogue; a results file may name a runtime that this version of the lab does
        not have.
        """
        name = self.runtime.partition("@")[0]
        return RUNTIMES.get(name) or Runtime(name, "", name)

    @property
    def build(self) -> str:
        """`a` in `sennit@a`: one of several builds of the runtime."""
        return self.runtime.partition("@")[2]

    @property
    def label(self) -> str:
        name = self.title_of_runtime
        if self.runtime == "serial":
            return name
        return f"{name}, {self.threads} worker" + "s" * (self.threads != 1)

    def stop(self, status: str, reason: str) -> None:
        self.status, self.reason = status, reason


@dataclass
class Plan:
    """The cells to measure and the rules that end the sampling. A plan is complete before the first
    run."""

    runtimes: list
    jobs: list  # pairs (workload, size)
    threads: list
    reps: (
        int | None
    )  # samples of each cell; None: `least`, then until it is precise, at most `most`
    seed: int
    time_limit: float
    cell_budget: float = FULL_CELL_BUDGET
    least: int = LEAST
    most: int = LEAST * MOST_PER_LEAST
    precision: float = PRECISION
    budget: float | None = None  # seconds of the whole run, after which no run begins
    pin: bool = False  # each run has as many CPUs as workers

    @property
    def at_most(self) -> int:
        return self.reps or self.most

    @property
    def at_least(self) -> int:
        """Samples that every cell shall have before any has more."""
        return min(self.least, self.at_most)


@dataclass
class Run:
    """The samples so far."""

    cells: list = field(default_factory=list)
    blocks: list = field(default_factory=list)  # dictionaries: sentinel (seconds), noisy
    state: str = "running"  # else "complete" or "interrupted"


def jobs_for(names: Iterable[str], quick: bool, full: bool) -> Iterator[tuple[str, str]]:
    for name in names:
        workload = WORKLOADS[name]
        sizes = (
            [workload.quick]
            if quick
            else workload.full
            if full and workload.full
            else [workload.default]
        )
        yield from ((name, size) for size in sizes)


def cells_of(plan: Plan) -> Iterator[Cell]:
    for workload, size in plan.jobs:
        for name in plan.runtimes:
            threads = [1] if name in SERIAL_FLOORS else plan.threads
            if RUNTIMES[name].ours and 1 not in threads:
                threads = [
                    1,
                    *threads,
                ]  # shows the cost of one worker
            for count in threads:
                cell = Cell(name, workload, size, count)
                if workload not in RUNTIMES[name].offers:
                    cell.stop("not offered", f"has no {workload}")
                yield cell


Program = tuple[str, str]  # a runtime and the client that starts it, or no client


def _program(cell: Cell) -> Program:
    return cell.runtime, WORKLOADS[cell.workload].client


def _commands(cells: list[Cell], builder: Finder) -> dict[Program, list[str]]:
    """Returns the command of each program, and notes the reason in the cells of missing programs.
    Samples of a program that has gone stay."""
    commands = {}
    built: dict[str, list[str]] = {}  # Runtimes.
    cells = [cell for cell in cells if cell.status == "ok"]
    for program in dict.fromkeys(map(_program, cells)):
        name, client = program
        try:
            built[name] = built.get(name) or builder.command(name)
            commands[program] = under_client(builder, client, built[name])
        except NotInstalled as reason:
            for cell in cells:
                if _program(cell) == program and cell.samples:
                    cell.stopped = cell.stopped or "gone"
                elif _program(cell) == program:
                    cell.stop("not installed", str(reason))
    return commands


def enough(cell: Cell, plan: Plan) -> str | None:
    """Why the cell needs no more samples, or None."""
    if len(cell.samples) >= plan.at_most:
        return "repetitions" if plan.reps else "most"
    if sum(cell.seconds()) > plan.cell_budget:
        return "budget"
    if (
        not plan.reps
        and len(cell.samples) >= plan.least
        and relative_width(cell.seconds()) <= plan.precision
    ):
        return "precise"
    return None


def pinned(command: list[str], threads: int) -> list[str]:
    """The command on as many of the usable CPUs as it has workers, on the same ones for every
    runtime.
    """
    return [
        "taskset",
        "--cpu-list",
        ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads])),
        *command,
    ]


def _take_sample(cell: Cell, command: list[str], plan: Plan, block: int, position: int) -> str:
    """Adds a sample to the cell, or stops it; returns the text to show."""
    if cell.status != "ok":
        return f"skipped, {cell.reason}"
    if plan.pin:
        command = pinned(command, cell.threads)
    try:
        sample = run_once(
            command, cell.runtime, cell.workload, cell.size, cell.threads, plan.time_limit
        )
    except Failed as failure:
        cell.stop("DNF", str(failure))
        return str(failure)
    if not sample["ok"]:
        wrong = f"wrong answer {as_text(sample['answer'])}"
        cell.stop("wrong", wrong)
        return wrong
    cell.samples.append(sample | {"block": block, "position": position})
    cell.stopped = enough(cell, plan)
    why = {"budget": ", slow and sampled enough", "precise": ", precise"}.get(
        cell.stopped or "", ""
    )
    return f"{sample['seconds']:.4f} s{why}"


def fair_level(claims: Sequence[tuple[float, float]], left: float) -> float:
    """The level L at which min(need, max(0, L - spent)), summed over all claims (need, spent),
    equals the time left; infinite if every need can be met. Expensive claims get the share that
    cheap claims do not need."""
    if sum(need for need, _ in claims) <= left:
        return math.inf
    edges = [(spent, 1) for _, spent in claims] + [(spent + need, -1) for need, spent in claims]
    level, given, growing = 0.0, 0.0, 0
    for edge, change in sorted(edges):
        if growing and given + growing * (edge - level) >= left:
            return level + (left - given) / growing
        given, level, growing = given + growing * (edge - level), edge, growing + change
    return math.inf


class Forecast:
    """How long the rest takes, from how long each cell's runs took, warm-up and start included;
    until when runs may begin; and whose turn it is."""

    def __init__(self, cells: list[Cell], plan: Plan) -> None:
        self.cells, self.plan = cells, plan
        self.wall: dict[int, float] = {}  # of the last run
        self.spent: dict[int, float] = {}  # of all
        self.end = time.monotonic() + plan.budget if plan.budget else math.inf

    def over(self) -> bool:
        """Whether the budget of the whole run is used up."""
        return time.monotonic() >= self.end

    def took(self, cell: Cell, seconds: float) -> None:
        self.wall[id(cell)] = seconds
        self.spent[id(cell)] = self.spent.get(id(cell), 0.0) + seconds

    def _seconds(self, cell: Cell) -> tuple[float, float]:
        """(expected seconds of the next run, seconds of all runs so far); zeros before the first
        run."""
        return self.wall.get(id(cell), 0.0), self.spent.get(id(cell), 0.0)

    def _affordable(self, cells: list[Cell]) -> list[Cell]:
        """Those whose next run is within their share of the time that is left."""
        claims = [
            ((self.plan.at_least - len(cell.samples)) * wall, spent)
            for cell in cells
            for wall, spent in [self._seconds(cell)]
        ]
        level = fair_level(claims, max(0.0, self.end - time.monotonic()))
        return [cell for cell in cells if sum(self._seconds(cell)) <= level]

    def turn(self) -> list[Cell]:
        """The cells of the next block: all that are not finished. But with a budget and from the
        second block on those that lack samples come first, as far as they can afford it; where none
        can, all of them."""
        unfinished = [cell for cell in self.cells if not cell.stopped]
        failed = [cell for cell in unfinished if cell.status != "ok"]  # they are said to be skipped
        lacking = [
            cell
            for cell in unfinished
            if cell.status == "ok" and len(cell.samples) < self.plan.at_least
        ]
        if not self.plan.budget or not self.wall or not lacking:
            return unfinished
        return failed + (self._affordable(lacking) or lacking)

    def _runs_left(self, cell: Cell) -> int:
        if cell.status != "ok" or cell.stopped:
            return 0
        wanted = self.plan.reps or self.plan.least  # more are taken where they do not get precise
        return max(1, wanted - len(cell.samples))

    def left(self) -> float | None:
        """Seconds, or None before anything ran."""
        if not self.wall:
            return None
        usual = sum(self.wall.values()) / len(self.wall)
        rest = sum(self._runs_left(cell) * self.wall.get(id(cell), usual) for cell in self.cells)
        return min(rest, max(0.0, self.end - time.monotonic()))


def _run_block(
    number: int,
    run: Run,
    commands: dict[Program, list[str]],
    plan: Plan,
    shown: Shown,
    forecast: Forecast,
    save: Callable[[], None],
) -> None:
    """Each cell whose turn it is, once, in an order that follows from the seed and the number of
    the block.
    """
    saved = time.monotonic()
    order = list(run.cells)
    random.Random(f"{plan.seed} {number}").shuffle(order)
    turn = set(map(id, forecast.turn()))
    for position, cell in enumerate(order):
        if id(cell) not in turn or any(sample["block"] == number for sample in cell.samples):
            continue  # not now, or it was before an interruption
        if forecast.over():
            return
        what = f"{cell.label}: {cell.title}"
        shown.begin(what, forecast.left())
        begin = time.monotonic()
        said = _take_sample(cell, commands[_program(cell)], plan, number, position)
        if not said.startswith("skipped"):
            forecast.took(cell, time.monotonic() - begin)
        shown.end(what, said)
        if time.monotonic() - saved > SAVE_EVERY:
            save()
            saved = time.monotonic()


def _guard(block: dict) -> None:
    seconds = sentinel()
    if seconds is not None:
        block["sentinel"].append(seconds)


def _end_of_budget(run: Run) -> str:
    """The state of a run that ended by itself: where no time was left for a cell, it may go on."""
    unfinished = [cell for cell in run.cells if cell.status == "ok" and not cell.stopped]
    for cell in unfinished:
        if cell.samples:
            cell.stopped = "budget"
        else:
            cell.reason = NO_TIME
    return "complete" if all(cell.samples for cell in unfinished) else "interrupted"


def run_plan(
    plan: Plan,
    builder: Finder,
    run: Run | None = None,
    save: Callable[[], None] = lambda: None,
    more: Callable[[], list[Cell]] = list,
) -> list[Cell]:
    """All cells, with samples or with a reason. A `run` that was interrupted goes on, with a new
    budget; `save` is called after each block, and each minute of a long one; `more` gives cells
    that follow from those that failed, of the same runtimes. The caller sees an interruption, too,
    and saves once more."""
    run = run or Run()
    run.cells = run.cells or list(cells_of(plan))
    run.cells += more()
    run.state = "running"
    commands = _commands(run.cells, builder)
    for cell in run.cells:
        cell.stopped = cell.stopped or enough(cell, plan)
        cell.reason = None if cell.reason == NO_TIME else cell.reason
    forecast = Forecast([cell for cell in run.cells if _program(cell) in commands], plan)
    number = max(0, len(run.blocks) - 1)  # the last block may have been interrupted
    try:
        with progress(plan.at_most) as shown:
            while not forecast.over() and any(
                cell.status == "ok" and not cell.stopped for cell in forecast.cells
            ):
                if number == len(run.blocks):
                    run.blocks.append({"sentinel": [], "noisy": False})
                shown.block(number + 1)
                _guard(run.blocks[number])
                _run_block(number, run, commands, plan, shown, forecast, save)
                _guard(run.blocks[number])
                number += 1
                added = more()
                run.cells += added
                forecast.cells += added
                save()
        run.state = _end_of_budget(run)
    except (KeyboardInterrupt, SystemExit):
        run.state = "interrupted"
        raise
    return run.cells
