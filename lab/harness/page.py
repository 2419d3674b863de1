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


def _number(value: object) -> object:
    """Six significant digits are more than any clock gives; they keep a page of 50,000 samples small."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _compact(results: dict) -> dict:
    """The same document with samples as lists, in the order that data.js names."""
    cells = []
    for cell in results["cells"]:
        samples = [[_number(one["seconds"]), _number(one["cpu_seconds"]), one["peak_rss_kib"], one["block"], one["position"],
                    int(one["outlier"])] for one in cell["samples"]]
        cells.append(cell | {"samples": samples, "tasks": cell["samples"][0]["tasks"] if cell["samples"] else 0})
    return results | {"cells": cells}


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
