# SPDX-License-Identifier: Apache-2.0
"""The table of results: a row for each runtime and number of workers, three columns for each
workload.
"""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

import rich.box
import rich.console
import rich.table
import rich.text

from . import figures
from .bench import Cell
from .catalogue import FLOORS
from .figures import middle
from .marks import FEWEST_CPUS, marked
from .options import FEWEST
from .stats import Comparison, Interval, compare, median_interval

EXPLANATION = (
    "For each workload: median seconds; the ratio to the plain serial function; the ratio to the\n"
    "best peer with as many workers or fewer, where = says that no difference is shown (the 95 %\n"
    "interval of the ratio within blocks holds 1) and ? that there are too few samples to tell:\n"
    f"an interval takes {FEWEST} of both. Fewer samples have a median marked n=, a range, and no\n"
    "verdict. 'one CPU': the row has several workers in a parallel workload, and its CPU time is\n"
    f"below {FEWEST_CPUS} times its wall time, so no second worker worked. A workload with\n"
    "figures of its own, which stand in a table of their own, is compared by the first of them."
)
SPREAD = "95 % interval, or range"  # the head of the column that spread() fills
SAME_MARK = {True: " =", False: "", None: " ?"}
NO_RESULT = {"DNF": "DNF", "wrong": "wrong"}
NEVER_RUN = {"not installed", "not offered"}


@dataclass
class Figures:
    """The figures of one cell. A figure is None without a cell to compare with."""

    seconds: float
    to_serial: float | None
    to_peer: float | None
    same_as_peer: bool | None  # None: too few samples to tell
    is_best_peer: bool
    interval_to_peer: (
        Interval | None
    )  # of the ratio within blocks, which to_peer is where there is one
    interval: Interval | None  # of the median seconds


def four_digits(value: float) -> str:
    """Four significant digits, without an exponent."""
    digits = 3 - math.floor(math.log10(value)) if value > 0 else 3
    return f"{value:.{min(max(digits, 0), 9)}f}"


def spread(samples: Sequence[float], interval: Interval | None, scale: float = 1.0) -> str:
    """The interval of the median, or the range of samples that are too few for one, which is
    told apart; nothing of a single one.
    """
    if len(samples) < 2:
        return ""
    low, high = interval or (min(samples), max(samples))
    return f"{four_digits(low * scale)} to {four_digits(high * scale)}" + (
        "" if interval else " (range)"
    )


def ratio_to(cell: Cell, peer: Cell, against: Comparison | None) -> float:
    """The median of the ratios within blocks if that has an interval, else that of the medians."""
    if against and against.paired and against.interval:
        return against.ratio
    return middle(cell) / middle(peer)


def compare_cells(cell: Cell, other: Cell) -> Comparison | None:
    return compare(figures.compared(cell), figures.compared(other))


class Results:
    """Comparisons between cells."""

    def __init__(self, cells: list[Cell]) -> None:
        self.cells = cells
        self.serial: dict[str, Cell] = {}
        self.best: dict[tuple[str, int], Cell] = {}
        for cell in filter(lambda cell: cell.good, cells):
            if cell.runtime == "serial":
                self.serial[cell.title] = cell
            elif not cell.kind.ours and cell.runtime not in FLOORS:
                key = cell.title, cell.threads
                if middle(cell) < (middle(self.best[key]) if key in self.best else math.inf):
                    self.best[key] = cell

    def best_peer(self, title: str, threads: float = math.inf) -> Cell | None:
        """The fastest peer with at most so many workers."""
        peers = [
            cell for (of, count), cell in self.best.items() if of == title and count <= threads
        ]
        return min(peers, key=middle) if peers else None

    def figures(self, cell: Cell) -> Figures | None:
        if not cell.good:
            return None
        seconds = median(cell.seconds())
        serial = self.serial.get(cell.title)
        best = self.best_peer(cell.title, cell.threads) if cell.runtime != "serial" else None
        against = compare_cells(cell, best) if best and best is not cell else None
        return Figures(
            seconds,
            middle(cell) / middle(serial) if serial and middle(serial) > 0 else None,
            ratio_to(cell, best, against) if best else None,
            against.same if against else None,
            best is cell,
            against.interval if against else None,
            median_interval(cell.seconds()),
        )

    def _row(self, label: str, row: dict[str, Cell], titles: list[str]) -> list[str]:
        texts = [label]
        for title in titles:
            cell = row.get(title)
            shown = self.figures(cell) if cell else None
            if not cell or not shown:
                texts += [NO_RESULT.get(cell.status, "") if cell else "", "", ""]
                continue
            texts.append(marked(four_digits(shown.seconds), cell))
            texts.append(f"{shown.to_serial:.2f}" if shown.to_serial is not None else "")
            texts.append(
                "best"
                if shown.is_best_peer
                else ""
                if shown.to_peer is None
                else f"{shown.to_peer:.2f}{SAME_MARK[shown.same_as_peer]}"
            )
        return texts

    def titles(self) -> list[str]:
        return list(dict.fromkeys(cell.title for cell in self.cells))

    def rows(self, titles: list[str]) -> list[list[str]]:
        """Rows of text, the first is the head. Runtimes with most results come first, then the
        fastest.
        """
        by_label: dict[str, dict[str, Cell]] = {}
        for cell in self.cells:
            if cell.status not in NEVER_RUN and cell.title in titles:
                by_label.setdefault(cell.label, {})[cell.title] = cell

        def order(item: tuple[str, dict[str, Cell]]) -> tuple[int, float]:
            done = [median(cell.seconds()) for cell in item[1].values() if cell.good]
            return -len(done), geometric_mean(done) if done else 0

        head = ["runtime"]
        for title in titles:
            head += [title, "÷ serial", "÷ peer"]
        return [
            head,
            *(self._row(label, row, titles) for label, row in sorted(by_label.items(), key=order)),
        ]

    def reasons(self) -> list[str]:
        """A line for each result that is missing."""
        lines: dict[str, None] = {}  # as an ordered set
        for cell in self.cells:
            if cell.status == "not installed":
                lines[f"{cell.title_of_runtime}: not installed: {cell.reason}"] = None
            elif cell.status == "not offered":
                lines[f"{cell.title_of_runtime}: {cell.reason}"] = None
            elif cell.reason:
                lines[f"{cell.label}: {cell.title}: {cell.reason}"] = None
        return list(lines)


@dataclass
class Standing:
    """A row of Sennit beside a peer."""

    ours: Cell
    peer: Cell
    ratio: float  # the time of Sennit ÷ that of the peer
    same: bool | None

    @property
    def shown(self) -> str:
        return f"{self.ratio:.2f}{SAME_MARK[self.same]}"


def standing(ours: Cell, peer: Cell) -> Standing:
    against = compare_cells(ours, peer)
    return Standing(ours, peer, ratio_to(ours, peer, against), against.same if against else None)


def standings(results: Results) -> list[Standing]:
    """The fastest row of Sennit and the fastest of the peers, at any number of workers, for each
    workload that both have; the worst ratio first."""
    found = []
    for title in results.titles():
        ours = [
            cell
            for cell in results.cells
            if cell.good and cell.title == title and cell.kind.ours and middle(cell) < math.inf
        ]
        peer = results.best_peer(title)
        if ours and peer:
            found.append(standing(min(ours, key=middle), peer))
    return sorted(found, key=lambda one: -one.ratio)


def behind(results: Results) -> list[Standing]:
    """Each row of Sennit that takes longer than the best peer with as many workers or fewer; the
    worst ratio first. Rows without a shown difference are left out."""
    found = [
        standing(cell, peer)
        for cell in results.cells
        if cell.good and cell.kind.ours and middle(cell) < math.inf
        if (peer := results.best_peer(cell.title, cell.threads))
    ]
    return sorted(
        (one for one in found if one.ratio > 1 and not one.same), key=lambda one: -one.ratio
    )


RULE = rich.box.Box(
    "    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True
)  # one rule, below the head
WIDEST = 10_000  # columns; plain() chooses what a terminal holds


def aligned(rows: list[list[str]]) -> list[str]:
    """The lines of a table; the first row is its head. Only the first column is aligned to the
    left."""
    head, *rest = rows
    table = rich.table.Table(box=RULE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for number, title in enumerate(head):
        table.add_column(rich.text.Text(title), justify="right" if number else "left", no_wrap=True)
    for row in rest:
        table.add_row(*map(rich.text.Text, row))
    console = rich.console.Console(file=io.StringIO(), width=WIDEST, color_system=None)
    with console.capture() as shown:
        console.print(table)
    return [line.rstrip() for line in shown.get().splitlines()]


def plain(results: Results, width: int) -> str:
    """For a terminal: as many workloads side by side as the width holds."""
    blocks, titles = [], results.titles()
    while titles:
        count = len(titles)
        while count > 1 and len(aligned(results.rows(titles[:count]))[1]) > width:
            count -= 1
        blocks += [*aligned(results.rows(titles[:count])), ""]
        titles = titles[count:]
    for title, rows in figures.tables(results.cells):
        blocks += [f"{title}: the medians of its figures", *aligned(rows), ""]
    return "\n".join([*blocks, EXPLANATION, *results.reasons()])
