# SPDX-License-Identifier: Apache-2.0
"""`bench seed-tables`: measures the rows of the published tables, and writes docs/seed-tables.md
from results."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from . import progress, report
from .bench import NO_TIME, Cell, Plan, Run, run_plan
from .build import Builder, Finder, default_compiler
from .catalogue import WORKLOADS, UsageError, usable_cpus
from .document import check_known, load, restore, write_whole
from .machine import machine
from .options import FEWEST, compiler_named
from .seed_tables import markdown, tables, why_not

ROWS = "rows of the seed tables"  # in the description of results that hold them all
TIME_LIMIT = 20.0  # seconds a run, warm-up included
BUDGET = 12 * 60.0  # seconds of all runs
CELL_BUDGET = 5.0  # seconds of timed samples, after which a slow row is not repeated
LEAST, MOST = FEWEST, 7


def _threads(row: dict, most: int) -> int:
    return 1 if row["runtime"] == "serial" else most if row["threads"] == "all" else row["threads"]


def _key(cell: Cell) -> tuple[str, str, str, int]:
    return cell.runtime, cell.workload, cell.size, cell.threads


def _cells(size: str, most: int) -> dict[tuple[str, str, str, int], Cell]:
    """A cell for the size of that name (`size`, `smaller`) of each row that has one and can be
    measured here.
    """
    rows = [
        row
        for table in tables()
        if "of" not in table
        for row in table["rows"]
        if not why_not(row) and size in row
    ]
    cells = [
        Cell(
            row["runtime"],
            row["workload"],
            WORKLOADS[row["workload"]].check(row[size]),
            _threads(row, most),
        )
        for row in rows
    ]
    return {_key(cell): cell for cell in cells}


def cells_to_measure(most: int, besides: Iterable[Cell] = ()) -> list[Cell]:
    """A cell for each row, without duplicates and without the cells that are there. `most` is the
    number of threads that `all` stands for."""
    there = set(map(_key, besides))
    return [cell for key, cell in _cells("size", most).items() if key not in there]


def smaller_cells(run: Run, most: int) -> list[Cell]:
    """Cells of smaller sizes for rows of which the size did not finish."""
    there = {_key(cell): cell for cell in run.cells}
    wanted = {}
    for table in tables():
        for row in table["rows"]:
            if "smaller" in row and not why_not(row):
                key = row["runtime"], row["workload"], row["size"], _threads(row, most)
                small = Cell(row["runtime"], row["workload"], row["smaller"], _threads(row, most))
                if key in there and there[key].status == "DNF" and _key(small) not in there:
                    wanted[_key(small)] = small
    return list(wanted.values())


def run_rows(plan: Plan, builder: Finder, run: Run, save: Callable[[], None]) -> None:
    """run_plan, with smaller sizes for rows that did not finish."""
    run_plan(plan, builder, run, save, lambda: smaller_cells(run, usable_cpus()))


def open_files(given: Namespace) -> None:
    """Reads the results files, and the run to continue. Raises UsageError."""
    given.documents = [load(path) for path in given.files]
    given.former = (
        load(given.measure)
        if given.measure and Path(given.measure, "RESULTS.json").exists()
        else None
    )
    if given.former and not given.former["machine"].get(ROWS):
        raise UsageError(
            f"{given.measure} holds other results; --measure takes a folder of its own"
        )
    if given.former:
        check_known(given.former)


def _begin(given: Namespace) -> tuple[Run, Plan, dict]:
    """Starts a new run, or resumes the run of the folder with its plan and its compiler."""
    if given.former:
        run, plan, about = restore(given.former)
        compiler_named(about.get("compiler_command"))
        return (
            run,
            replace(
                plan,
                budget=given.budget or plan.budget,
                time_limit=given.time_limit or plan.time_limit,
            ),
            about,
        )
    run = Run(cells_to_measure(usable_cpus()))
    plan = Plan(
        list(dict.fromkeys(cell.runtime for cell in run.cells)),
        list(dict.fromkeys((cell.workload, cell.size) for cell in run.cells)),
        [usable_cpus()],
        given.reps,
        1,
        given.time_limit or TIME_LIMIT,
        CELL_BUDGET,
        LEAST,
        MOST,
        budget=given.budget or BUDGET,
    )
    about = machine(default_compiler()) | {
        "seed": plan.seed,
        "time_limit_seconds": plan.time_limit,
        ROWS: "measured",
    }
    return run, plan, about


def measure(given: Namespace) -> dict:
    """Measures every row that can be measured here, into the results files of the folder. Rows with
    enough samples are not measured again."""
    folder = Path(given.measure).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    run, plan, about = _begin(given)
    if run.state == "complete":
        print(f"{given.measure} is complete; nothing to measure", file=sys.stderr)
        return load(folder)
    progress.quiet = given.quiet_log
    print(
        f"{len(run.cells)} rows to measure, within {(plan.budget or 0) / 60:g} min", file=sys.stderr
    )
    builder = Builder(about.get("compiler_command"))
    try:
        run_rows(plan, builder, run, report.checkpoint(run, plan, about, folder, builder.versions))
    except (KeyboardInterrupt, SystemExit):
        _write(run, plan, about, folder, "interrupted")
        raise
    missing = sum(cell.reason == NO_TIME for cell in run.cells)
    _write(run, plan, about, folder, f"no time was left for {missing} row{'s' * (missing != 1)}")
    return load(folder)


def _write(run: Run, plan: Plan, about: dict, folder: Path, why: str) -> None:
    """All files; `why` is said where it can go on."""
    about["load_after"] = os.getloadavg()[0]
    report.write_files(run, plan, about, folder)
    if run.state != "complete":
        print(
            f"sennit: {why}; ./sennit bench seed-tables --measure {folder} goes on", file=sys.stderr
        )


def act(given: Namespace) -> int:
    documents = list(given.documents)
    if given.measure:
        documents.append(measure(given))
    write_whole(markdown(documents), Path(given.out))
    print(f"written: {given.out}")
    return 0
