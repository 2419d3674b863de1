# SPDX-License-Identifier: Apache-2.0
"""The published tables of lab/seed-tables.toml beside results of this lab: docs/seed-tables.md,
and a view of RESULTS.html.
"""

import functools
import tomllib
from collections.abc import Iterator
from statistics import mean

from .build import ROOT
from .catalogue import RUNTIMES
from .footnotes import footnote
from .marks import ONE_CPU, uses_one_cpu
from .options import FEWEST
from .table import SPREAD, four_digits, spread
from .templates import fill

DESCRIPTION = ROOT / "lab" / "seed-tables.toml"
HEAD = ["", "published", "here", SPREAD, "threads"]
UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
PER = {"run": "a run", "size": "an actor, thread or fiber", "task": "an operation"}
RATIO = "ratio to the best"  # the unit of a table of means over other tables
MACHINE = (
    "cpu",
    "cores",
    "memory",
    "kernel",
    "system",
    "compiler",
    "flags",
    "allocator",
    "commit",
    "date",
)


@functools.cache
def tables() -> list[dict]:
    """The tables of the file, with the defaults of a table in its rows. Each row has `name`, and
    either `reason` or the runtime and workload that measure it."""
    found = tomllib.loads(DESCRIPTION.read_text(encoding="utf-8"))["table"]
    for table in found:
        defaults = table.pop("defaults", {})
        table["rows"] = [{**defaults, **row} if "runtime" in row else row for row in table["rows"]]
    return found


def _of_size(row: dict, size: str, documents: list[dict]) -> dict | None:
    """The cell of the document that comes last; with all threads, the one with most, but no more
    than its machine has CPUs.
    """
    found = None
    for results in documents:
        cells = [
            cell
            for cell in results["cells"]
            if (cell["runtime"], cell["workload"], cell["size"])
            == (row["runtime"], row["workload"], size)
            and (
                cell["threads"] <= results["machine"]["cores"]
                if row["threads"] == "all"
                else cell["threads"] == row["threads"]
            )
        ]
        cells.sort(key=lambda cell: (cell["median"] is not None, cell["threads"]))
        found = cells[-1] if cells else found
    return found


def find(row: dict, documents: list[dict]) -> dict | None:
    """The cell that measures a row: of its size, or of the smaller one where only that finished.
    Or None.
    """
    cell = _of_size(row, row["size"], documents)
    if "smaller" in row and (cell is None or cell["median"] is None):
        smaller = _of_size(row, row["smaller"], documents)
        cell = smaller if smaller and smaller["median"] is not None else cell
    return cell


def why_not(row: dict) -> str | None:
    """Why this version of the lab cannot measure the row, or None."""
    if "reason" in row:
        return row["reason"]
    if row["runtime"] not in RUNTIMES or row["workload"] not in RUNTIMES[row["runtime"]].offers:
        return f"the lab has no {row['workload']} in {row['runtime']}"
    return None


def _scale(table: dict, row: dict, cell: dict) -> float:
    """The factor from seconds of the cell to the unit of the table. A smaller size stands for the
    row's: their operations are alike."""
    unit = UNITS[table["unit"]]
    if table["per"] == "run":
        return unit * (int(row["size"]) / int(cell["size"]) if cell["size"] != row["size"] else 1)
    return unit / (
        int(cell["size"])
        if table["per"] == "size"
        else cell.get("tasks") or cell["samples"][0]["tasks"]
    )


def _here(table: dict, row: dict, documents: list[dict]) -> list[str]:
    """[here, spread, threads] of a row; a reason where there is no figure, so that no cell is
    empty without one.
    """
    cell = None if why_not(row) else find(row, documents)
    if cell is None or cell["median"] is None:
        reason = why_not(row) or (cell["reason"] if cell else None)
        name = f"{row.get('runtime')} {row.get('workload')}({row.get('size')})"
        nothing = f"not measured: the results hold no {name}"
        return [
            f"no: {reason or nothing}",
            "",
            "",
        ]
    scale, count = _scale(table, row, cell), len(cell["samples"])
    runs = f"{count} run{'s' * (count != 1)}" + (
        f" of {int(cell['size']):,}, scaled" if cell["size"] != row["size"] else ""
    )
    shown = spread([sample["seconds"] for sample in cell["samples"]], cell["interval"], scale)
    return [
        four_digits(cell["median"] * scale),
        f"{shown}, {runs}" if shown else runs,
        str(cell["threads"])
        + (
            f", {ONE_CPU}"
            if uses_one_cpu(cell["workload"], cell["threads"], cell["samples"])
            else ""
        ),
    ]


def _fewest_runs(cells: list[dict]) -> str:
    """The runs of the cell with the fewest, where these are too few for an interval."""
    runs = min(len(cell["samples"]) for cell in cells)
    return f"n={runs} in one of them" if runs < FEWEST else "–"


def _means(table: dict, documents: list[dict]) -> Iterator[list[str]]:
    """Rows of a table of means: of the ratios to the best runtime of each table that it is `of`,
    all with as many threads.
    """
    cells = {}  # (title of a table, runtime) -> cell
    for one in tables():
        if one["title"] in table["of"]:
            for row in one["rows"]:
                if (
                    not why_not(row)
                    and row["threads"] == "all"
                    and (cell := find(row, documents))
                    and cell["median"] is not None
                ):
                    cells[one["title"], row["runtime"]] = cell
    best = {
        title: min((cell["median"] for (of, _), cell in cells.items() if of == title), default=0.0)
        for title in table["of"]
    }
    for row in table["rows"]:
        own = [(cells.get((title, row.get("runtime"))), best[title]) for title in table["of"]]
        missing = [title for title, (cell, _) in zip(table["of"], own) if cell is None]
        ratios = [cell["median"] / least for cell, least in own if cell]
        reason = row.get("reason") or f"no figure for {', '.join(missing)}"
        here = (
            [f"no: {reason}", "", ""]
            if "reason" in row or missing
            else [
                f"{mean(ratios):.2f}",
                _fewest_runs([cell for cell, _ in own if cell]),
                str(own[0][0]["threads"] if own[0][0] else ""),
            ]
        )
        yield [row["name"], row.get("published", "–"), *here]


def _rows(table: dict, documents: list[dict]) -> Iterator[list[str]]:
    if "of" in table:
        yield from _means(table, documents)
        return
    for row in table["rows"]:
        yield [row["name"], row.get("published", "–"), *_here(table, row, documents)]


def _unit(table: dict) -> str:
    return RATIO if "of" in table else f"{table['unit']} {PER[table['per']]}"


def _note(table: dict, documents: list[dict], docs: str | None) -> str:
    """The footnote of a table, for the rows that have a figure."""
    cells = [
        find(row, documents) for row in table["rows"] if "workload" in row and not why_not(row)
    ]
    return footnote(
        (
            (cell["runtime"], cell["workload"], cell["threads"])
            for cell in cells
            if cell and cell["median"] is not None
        ),
        docs,
    )


def cores(documents: list[dict]) -> str:
    """The CPUs of the machines here, or nothing."""
    counts = {results["machine"].get("cores") for results in documents} - {None}
    return f"{' and '.join(map(str, sorted(counts)))} CPUs" if counts else ""


def for_page(documents: list[dict]) -> list[dict]:
    """The tables for RESULTS.html, as text."""
    return [
        {
            "title": f"{table['title']}: {_unit(table)}"
            + (f", here on {cores(documents)}" if documents else ""),
            "source": f"{table['source']}; {table['machine']}",
            "note": _note(table, documents, None),
            "head": HEAD,
            "rows": list(_rows(table, documents)),
        }
        for table in tables()
    ]


def markdown(documents: list[dict]) -> str:
    machines = [
        [results["machine"][key] for key in MACHINE if results["machine"].get(key) is not None]
        for results in documents
    ]
    shown = [
        {
            **table,
            "shown": [
                [cell.replace("|", "\\|") for cell in row] for row in _rows(table, documents)
            ],
            "measure": _unit(table),
            "footnote": _note(table, documents, ""),
            "note": f" {table['note'][0].upper()}{table['note'][1:]}" if "note" in table else "",
        }
        for table in tables()
    ]
    return fill(
        "seed-tables.md",
        cores=cores(documents),
        fewest=FEWEST,
        head=HEAD,
        machines=machines,
        tables=shown,
    )
