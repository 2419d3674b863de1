# SPDX-License-Identifier: Apache-2.0
"""The further figures of a workload, besides its time: what its declaration names."""

import math
from collections.abc import Sequence
from statistics import median

from .bench import Cell
from .catalogue import WORKLOADS

HEAD = ("runtime", "samples", "seconds")


def main_figure(workload: str) -> str | None:
    """The figure by which the rows of a workload are compared; None for its time."""
    known = WORKLOADS.get(workload)
    return known.figures[0] if known and known.figures else None


def compared(cell: Cell) -> dict[object, float]:
    """block -> the value by which the cell is compared: its main figure, or seconds."""
    figure = main_figure(cell.workload)
    if figure is None:
        return cell.by_block()
    return {
        sample.get("block", number): sample["figures"][figure]
        for number, sample in enumerate(cell.samples)
        if figure in sample.get("figures", ())
    }


def middle(cell: Cell) -> float:
    """The median of the values by which the cell is compared; infinity without any."""
    values = compared(cell).values()
    return median(values) if values else math.inf


def medians(cell: Cell) -> dict[str, float]:
    """figure -> median. Samples of older files may lack a figure."""
    names = dict.fromkeys(name for sample in cell.samples for name in sample.get("figures", ()))
    return {
        name: median(
            sample["figures"][name] for sample in cell.samples if name in sample.get("figures", ())
        )
        for name in names
    }


def text(value: float) -> str:
    return f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def tables(cells: Sequence[Cell]) -> list[tuple[str, list[list[str]]]]:
    """For each workload that has further figures: its title, and rows of texts, the first of which
    is the head. The cell with the least first figure comes first.
    """
    by_title: dict[str, list[tuple[Cell, dict[str, float]]]] = {}
    for cell in cells:
        if cell.good and (found := medians(cell)):
            by_title.setdefault(cell.title, []).append((cell, found))
    made = []
    for title, pairs in by_title.items():
        names = list(dict.fromkeys(name for _, found in pairs for name in found))
        pairs.sort(key=lambda pair: pair[1].get(names[0], float("inf")))
        rows = [
            [
                cell.label,
                str(len(cell.samples)),
                text(median(cell.seconds())),
                *(text(found[name]) if name in found else "" for name in names),
            ]
            for cell, found in pairs
        ]
        made.append((title, [[*HEAD, *names], *rows]))
    return made
