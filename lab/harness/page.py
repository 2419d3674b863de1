# SPDX-License-Identifier: Apache-2.0
"""RESULTS.html: one file that holds results, drawing and ECharts, and works from disk. `bench
page A B ...` merges files.
"""

from argparse import Namespace
from pathlib import Path

from . import charts, footnotes, seed_tables
from .catalogue import FAMILIES
from .document import load, write_whole
from .templates import fill


def _number(value: object, digits: int = 6) -> object:
    """As many significant digits, which keeps a page of 50,000 samples small. Whole numbers lose
    their `.0`.
    """
    if not isinstance(value, float):
        return value
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short


def _columns(samples: list[dict]) -> list[list]:
    """Samples by column, in the order that data.js names: blocks are left out where they are 0, 1,
    2 and so on, and of the outliers only their places are named."""
    blocks = [one["block"] for one in samples]
    return [
        [_number(one["seconds"], 5) for one in samples],
        [_number(one["cpu_seconds"], 4) for one in samples],
        [one["peak_rss_kib"] for one in samples],
        [] if blocks == list(range(len(samples))) else blocks,
        [one["position"] for one in samples],
        [place for place, one in enumerate(samples) if one["outlier"]],
    ]


def _cell(cell: dict) -> dict:
    """The part of a cell that the page shows, without nulls and false values."""
    shown = {
        key: cell[key]
        for key in ("runtime", "title", "ours", "workload", "size", "threads", "status", "reason")
    }
    return {
        key: value for key, value in shown.items() if value is not None and value is not False
    } | {
        "median": _number(cell["median"]),
        "interval": cell["interval"] and [_number(end) for end in cell["interval"]],
        "tasks": cell["samples"][0]["tasks"] if cell["samples"] else 0,
        "columns": _columns(cell["samples"]),
    }


def _compact(results: dict) -> dict:
    """The part of a document that the page shows, in fewer bytes. data.js reads it like
    RESULTS.json."""
    return {key: results[key] for key in ("format", "version", "state", "machine")} | {
        "blocks": [{"noisy": block["noisy"]} for block in results["blocks"]],
        "cells": [_cell(cell) for cell in results["cells"]],
    }


def page(documents: list[dict], echarts: str | None) -> str:
    """The text of the page; `echarts` is its text, or None for tables only."""
    return fill(
        "page.html",
        data=[_compact(results) for results in documents],
        seeds=seed_tables.for_page(documents),
        notes=footnotes.for_page(),
        models={family: list(workloads) for family, workloads in FAMILIES.items()},
        echarts=(echarts or "").replace("</script", "<\\/script"),
    )


def write_page(documents: list[dict], path: str | Path) -> None:
    write_whole(page(documents, charts.echarts()), Path(path))


def open_files(given: Namespace) -> None:
    given.documents = [load(path) for path in given.files]


def act(given: Namespace) -> int:
    write_page(given.documents, given.out)
    print(f"written: {given.out}")
    return 0
