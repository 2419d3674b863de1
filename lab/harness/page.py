# SPDX-License-Identifier: Apache-2.0
"""RESULTS.html: one file that holds results, drawing and ECharts, and works from disk. `bench page A B ...` merges files."""

import json
import re
from argparse import Namespace
from pathlib import Path

from . import charts, seed_tables
from .catalogue import FAMILIES, UsageError
from .document import load, write_whole
from .options import Parser

FOLDER = Path(__file__).with_name("page")
PARTS = ("page.css", "data.js", "draw.js", "page.js")


def _number(value: object, digits: int = 6) -> object:
    """As many significant digits, which keeps a page of 50,000 samples small. Whole numbers lose their `.0`."""
    if not isinstance(value, float):
        return value
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short


def _columns(samples: list[dict]) -> list[list]:
    """Samples by column, in the order that data.js names: blocks are left out where they are 0, 1, 2 and so on, and of the outliers
    only their places are named."""
    blocks = [one["block"] for one in samples]
    return [[_number(one["seconds"], 5) for one in samples], [_number(one["cpu_seconds"], 4) for one in samples],
            [one["peak_rss_kib"] for one in samples], [] if blocks == list(range(len(samples))) else blocks,
            [one["position"] for one in samples], [place for place, one in enumerate(samples) if one["outlier"]]]


def _cell(cell: dict) -> dict:
    """What the page shows of a cell; what is null or false is left out."""
    shown = {key: cell[key] for key in ("runtime", "title", "ours", "workload", "size", "threads", "status", "reason")}
    return {key: value for key, value in shown.items() if value is not None and value is not False} | {
        "median": _number(cell["median"]), "interval": cell["interval"] and [_number(end) for end in cell["interval"]],
        "tasks": cell["samples"][0]["tasks"] if cell["samples"] else 0, "columns": _columns(cell["samples"])}


def _compact(results: dict) -> dict:
    """What the page shows of a document, in fewer bytes: data.js reads it as it reads RESULTS.json."""
    return {key: results[key] for key in ("format", "version", "state", "machine")} | {
        "blocks": [{"noisy": block["noisy"]} for block in results["blocks"]], "cells": [_cell(cell) for cell in results["cells"]]}


def _json(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def page(documents: list[dict], echarts: str | None) -> str:
    """The text of the page; `echarts` is its text, or None for tables only."""
    parts = {name: (FOLDER / name).read_text(encoding="utf-8") for name in PARTS}
    parts["data"] = _json([_compact(results) for results in documents])
    parts["models"] = _json({family: list(workloads) for family, workloads in FAMILIES.items()})
    parts["seeds"] = _json(seed_tables.for_page(documents))
    parts["echarts"] = (echarts or "").replace("</script", "<\\/script")
    template = (FOLDER / "template.html").read_text(encoding="utf-8")
    return re.sub(r"/\*\{([\w.-]+)\}\*/", lambda found: parts[found.group(1)], template)


def write_page(documents: list[dict], path: str | Path) -> None:
    write_whole(page(documents, charts.echarts()), Path(path))


def parse(arguments: list[str]) -> Namespace:
    parser = Parser("page")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", default="RESULTS.html")
    given = parser.parse_args(arguments)
    given.documents = [load(path) for path in given.files]
    if Path(given.out).is_dir():
        raise UsageError(f"--out takes a file, and {given.out} is a folder")
    return given


def act(given: Namespace) -> int:
    write_page(given.documents, given.out)
    print(f"written: {given.out}")
    return 0
