# SPDX-License-Identifier: Apache-2.0
"""The picture of the README: for each workload of the main job a bar for each runtime, as an SVG
that also suits a dark page. templates/figures.svg has its form."""

from statistics import median

from .bench import Cell
from .catalogue import MAIN_JOB
from .marks import marked
from .table import Results, four_digits
from .templates import fill

WIDTH, ROW, HEAD, GAP = 760, 20, 34, 16  # pixels
LABEL, BAR = 170, 470  # where bars begin, and how long the longest is
MOST_ROWS = 8  # runtimes of a workload
CUT = 8.0  # times the best: longer bars are cut there, and say so


def _bars(cells: list[Cell], top: int) -> list[dict]:
    """The bars of the fastest runtimes; those of Sennit are always among them."""
    cells.sort(key=lambda cell: median(cell.seconds()))
    kept = [cell for number, cell in enumerate(cells) if number < MOST_ROWS or cell.kind.ours]
    best = median(cells[0].seconds())
    longest = min(CUT, max(median(cell.seconds()) for cell in kept) / best)
    bars = []
    for number, cell in enumerate(kept):
        seconds = median(cell.seconds())
        times = seconds / best
        bars.append(
            {
                "title": cell.title_of_runtime,
                "kind": "ours"
                if cell.kind.ours
                else "floor"
                if cell.runtime == "serial"
                else "peer",
                "top": top + HEAD + number * ROW,
                "length": max(1.0, BAR * min(times, CUT) / longest),
                "text": marked(f"{four_digits(seconds)} s", cell)
                + (" (cut)" if times > CUT else ""),
            }
        )
    return bars


def picture(results: Results, threads: int) -> str:
    """The results at that many workers, and those of the plain function."""
    groups, top = [], 0
    titles = dict.fromkeys(cell.title for cell in results.cells if cell.workload in MAIN_JOB)
    for title in titles:
        cells = [
            cell
            for cell in results.cells
            if cell.good and cell.title == title
            if cell.threads == threads or cell.runtime == "serial"
        ]
        if not cells:
            continue
        bars = _bars(cells, top)
        of = f", the fastest of {len(cells)}" if len(bars) < len(cells) else ""
        workers = f"{threads} worker" + "s" * (threads != 1)
        head = f"{title}, {threads} CPUs, {workers}, shorter is better{of}"
        groups.append({"head": head, "top": top, "bars": bars})
        top += HEAD + len(bars) * ROW + GAP
    return fill("figures.svg", groups=groups, width=WIDTH, height=max(top, 1), label=LABEL, row=ROW)
