# SPDX-License-Identifier: Apache-2.0
"""`bench seed-tables`: docs/seed-tables.md, which sets the published tables of lab/seed-tables.toml beside results of this lab."""

import functools
import os
import sys
import tomllib
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from .bench import Cell, Plan, Run, run_plan
from .build import ROOT, Builder, default_compiler
from .catalogue import RUNTIMES, WORKLOADS, UsageError, usable_cpus
from .document import document, load, save
from .limits import TIME_LIMIT
from .machine import machine
from .options import Parser, number, seconds
from .table import four_digits

DESCRIPTION = ROOT / "lab" / "seed-tables.toml"
OUT = ROOT / "docs" / "seed-tables.md"
HEAD = ["", "published", "here", "95 % interval", "threads"]
UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
PER = {"run": "a run", "size": "an actor, thread or fiber", "task": "an operation"}
INTRODUCTION = """# The published tables, measured here

Written by `./sennit bench seed-tables` from `lab/seed-tables.toml` and results; not by hand. *published* is what the source
says of its machine, *here* the median on the machine below. The two columns show different machines, years and versions: only
rows of one column compare. A published figure is printed where its source can be read, and nothing is printed from memory.
"""


@functools.cache
def tables() -> list[dict]:
    """As in the file; each row has `name` and either `reason` or what measures it."""
    return tomllib.loads(DESCRIPTION.read_text(encoding="utf-8"))["table"]


def _threads(row: dict, most: int) -> int:
    return 1 if row["runtime"] == "serial" else most if row["threads"] == "all" else row["threads"]


def _has_allocator(results: dict, row: dict) -> bool:
    return ("tcmalloc" in (results["machine"]["allocator"] or "")) == (row.get("allocator") == "tcmalloc")


def find(row: dict, documents: list[dict]) -> dict | None:
    """The cell that measures a row, of the document that comes last; with all threads, the one with most. Or None."""
    found = None
    for results in filter(lambda results: _has_allocator(results, row), documents):
        cells = [cell for cell in results["cells"] if (cell["runtime"], cell["workload"], cell["size"]) == (
            row["runtime"], row["workload"], row["size"]) and row["threads"] in ("all", cell["threads"])]
        cells.sort(key=lambda cell: (cell["median"] is not None, cell["threads"]))
        found = cells[-1] if cells else found
    return found


def _why_not(row: dict) -> str | None:
    """Why this version of the lab cannot measure the row, or None."""
    if "reason" in row:
        return row["reason"]
    if row["runtime"] not in RUNTIMES or row["workload"] not in RUNTIMES[row["runtime"]].offers:
        return f"the lab has no {row['workload']} in {row['runtime']}"
    return None


def _here(table: dict, row: dict, documents: list[dict]) -> list[str]:
    """[here, interval, threads] of a row; a reason where there is no figure, so that no cell is empty without one."""
    cell = None if _why_not(row) else find(row, documents)
    if cell is None or cell["median"] is None:
        reason = _why_not(row) or (cell["reason"] if cell else None)
        if reason is None:
            with_allocator = " with tcmalloc" if row.get("allocator") else ""
            reason = f"not measured{with_allocator}: the results hold no {row['runtime']} {row['workload']}({row['size']})"
        return [f"no: {reason}", "", ""]
    tasks = cell.get("tasks") or cell["samples"][0]["tasks"]
    divisor = {"run": 1, "size": int(row["size"]) if table["per"] == "size" else 1, "task": tasks}[table["per"]]
    scale = UNITS[table["unit"]] / divisor
    low, high = (four_digits(value * scale) for value in cell["interval"])
    return [four_digits(cell["median"] * scale), f"{low} to {high}, {len(cell['samples'])} runs", str(cell["threads"])]


def _rows(table: dict, documents: list[dict]) -> Iterator[list[str]]:
    for row in table["rows"]:
        yield [row["name"], row.get("published", "–"), *_here(table, row, documents)]


def for_page(documents: list[dict]) -> list[dict]:
    """What RESULTS.html shows: tables of text."""
    return [{"title": f"{table['title']}: {table['unit']} {PER[table['per']]}", "source": f"{table['source']}; {table['machine']}",
             "head": HEAD, "rows": list(_rows(table, documents))} for table in tables()]


def markdown(documents: list[dict]) -> str:
    text = INTRODUCTION
    for results in documents:
        about = results["machine"]
        text += "\n* " + ", ".join(str(about.get(key)) for key in ("cpu", "cores", "memory", "kernel", "system", "compiler", "flags",
                                                                   "allocator", "commit", "date") if about.get(key) is not None)
    text += "\n"
    for table in tables():
        note = f" {table['note'][0].upper()}{table['note'][1:]}" if "note" in table else ""
        text += f"\n## {table['title']}\n\n{table['unit']} {PER[table['per']]}. Published: {table['source']}; {table['machine']}.{note}\n\n"
        text += "| " + " | ".join(HEAD) + " |\n|---|--:|--:|--:|--:|\n"
        text += "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in _rows(table, documents))
    return text


def cells_to_measure(most: int) -> list[Cell]:
    """A cell for each row that can be measured here, each once, with the allocator of this process."""
    tcmalloc = "tcmalloc" in os.environ.get("LD_PRELOAD", "")
    wanted = {}
    for row in (row for table in tables() for row in table["rows"]):
        if not _why_not(row) and (row.get("allocator") == "tcmalloc") == tcmalloc:
            key = row["runtime"], row["workload"], WORKLOADS[row["workload"]].check(row["size"]), _threads(row, most)
            wanted[key] = Cell(*key)
    return list(wanted.values())


def parse(arguments: list[str]) -> Namespace:
    parser = Parser("seed-tables")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--out", default=str(OUT))
    parser.add_argument("--measure")
    parser.add_argument("--reps")
    parser.add_argument("--time-limit", default=str(TIME_LIMIT))
    given = parser.parse_args(arguments)
    if not given.files and not given.measure:
        raise UsageError("seed-tables takes results files, or --measure FOLDER to make them; see ./sennit --help")
    given.documents = [load(path) for path in given.files]
    given.reps = number(given.reps, "--reps", 1, 1000) if given.reps else None
    given.time_limit = seconds(given.time_limit)
    return given


def measure(given: Namespace) -> dict:
    """Every row that can be measured here, into RESULTS.json of the folder."""
    folder = Path(given.measure).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(cells_to_measure(usable_cpus()))
    plan = Plan(list(dict.fromkeys(cell.runtime for cell in run.cells)), list(dict.fromkeys((cell.workload, cell.size) for cell in run.cells)),
                [usable_cpus()], given.reps, 1, given.time_limit)
    about = machine(default_compiler()) | {"seed": plan.seed}

    def write() -> None:
        save(document(run, plan, about), folder / "RESULTS.json")

    print(f"{len(run.cells)} rows to measure", file=sys.stderr)
    try:
        run_plan(plan, Builder(), run, write)
    finally:
        write()
    return load(folder)


def act(given: Namespace) -> int:
    documents = list(given.documents)
    if given.measure:
        documents.append(measure(given))
    Path(given.out).write_text(markdown(documents), encoding="utf-8")
    print(f"written: {given.out}")
    return 0
