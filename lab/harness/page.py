# SPDX-License-Identifier: Apache-2.0
"""RESULTS.html: one file that holds results, drawing and ECharts, and works from disk. `bench
page A B ...` merges files. docs/benchmarks/index.html is a smaller form without samples and
ECharts, which `bench pages` writes.
"""

from argparse import Namespace
from pathlib import Path
from statistics import median

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


def _summary(samples: list[dict]) -> dict:
    """The figures of the samples that the tables show."""
    return {
        "count": len(samples),
        "cpu": _number(median(one["cpu_seconds"] for one in samples), 4),
        "rss": max(one["peak_rss_kib"] for one in samples),
        "outliers": sum(one["outlier"] for one in samples),
    }


def _cell(cell: dict, with_samples: bool) -> dict:
    """The part of a cell that the page shows, without nulls and false values."""
    samples = cell["samples"]
    shown = {
        key: cell[key]
        for key in ("runtime", "title", "ours", "workload", "size", "threads", "status", "reason")
    }
    return {
        key: value for key, value in shown.items() if value is not None and value is not False
    } | {
        "median": _number(cell["median"]),
        "interval": cell["interval"] and [_number(end) for end in cell["interval"]],
        "tasks": samples[0]["tasks"] if samples else 0,
    } | _of_samples(samples, with_samples)


def _of_samples(samples: list[dict], all_of_them: bool) -> dict:
    if all_of_them:
        return {"columns": _columns(samples)}
    return {"summary": _summary(samples)} if samples else {}


def _compact(results: dict, with_samples: bool = True) -> dict:
    """The part of a document that the page shows, in fewer bytes. data.js reads it like
    RESULTS.json."""
    return {key: results[key] for key in ("format", "version", "state", "machine")} | {
        "blocks": [{"noisy": block["noisy"]} for block in results["blocks"]],
        "cells": [
            _cell(cell, with_samples)
            for cell in results["cells"]
            if with_samples or cell["status"] != "not offered"
        ],
    }


def page(documents: list[dict], echarts: str | None, with_samples: bool = True) -> str:
    """The text of the page; `echarts` is its text, or None for bars of plain HTML."""
    return fill(
        "page.html",
        data=[_compact(results, with_samples) for results in documents],
        seeds=seed_tables.for_page(documents),
        notes=footnotes.for_page(),
        models={family: list(workloads) for family, workloads in FAMILIES.items()},
        echarts=(echarts or "").replace("</script", "<\\/script"),
    )


def by_commit(documents: list[dict]) -> list[dict]:
    """One document for each machine and commit, because the page compares the rows of one document.
    The order stays."""
    merged: dict[tuple, dict] = {}
    for one in documents:
        about = one["machine"]
        key = tuple(about.get(name) for name in ("cpu", "cores", "commit"))
        whole = merged.setdefault(key, one | {"machine": {}, "cells": []})
        whole["machine"] = about | whole["machine"]
        whole["cells"] = whole["cells"] + one["cells"]
    return list(merged.values())


def write_page(documents: list[dict], path: str | Path) -> None:
    write_whole(page(documents, charts.echarts()), Path(path))


def open_files(given: Namespace) -> None:
    given.documents = [load(path) for path in given.files]


def act(given: Namespace) -> int:
    write_page(given.documents, given.out)
    print(f"written: {given.out}")
    return 0
