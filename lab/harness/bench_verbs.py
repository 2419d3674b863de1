# SPDX-License-Identifier: Apache-2.0
"""The verb bench: starts or resumes a run, and writes its results even if it ends early."""

import os
import shutil
from argparse import Namespace
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from . import (
    compare,
    overhead,
    pack,
    page,
    progress,
    publish,
    report,
    scaling,
    seed_measure,
    sweep_page,
    track,
    workload_pages,
)
from .bench import (
    CELL_BUDGET,
    FULL_CELL_BUDGET,
    FULL_LEAST,
    FULL_PRECISION,
    LEAST,
    MOST_PER_LEAST,
    PRECISION,
    QUICK_CELL_BUDGET,
    Plan,
    Run,
    cells_of,
    jobs_for,
    run_plan,
)
from .build import Builder, default_compiler
from .catalogue import UsageError, usable_cpus
from .document import check_known, load, restore
from .machine import differences, machine
from .options import compiler_named
from .parser import REFUSED
from .say import say, warn
from .table import Results, plain


def open_run(given: Namespace) -> None:
    """Reads the results of the run to resume. Raises UsageError."""
    if given.resume is None:
        return
    given.former = load(given.resume)
    if given.former["state"] == "complete":
        raise UsageError(f"{given.resume} is complete; there is nothing to resume")
    check_known(given.former)


def _plan(given: Namespace) -> Plan:
    least = FULL_LEAST if given.full else LEAST
    return Plan(
        given.runtimes,
        list(jobs_for(given.workloads, given.quick, given.full)),
        given.threads,
        given.reps,
        given.seed,
        given.time_limit,
        QUICK_CELL_BUDGET if given.quick else FULL_CELL_BUDGET if given.full else CELL_BUDGET,
        least,
        least if given.quick else least * MOST_PER_LEAST,
        FULL_PRECISION if given.full else PRECISION,
        given.budget,
        given.pin,
    )


def same_circumstances(given: Namespace, about: dict) -> None:
    """A run goes on with the compiler, commit and machine that it began with; older results do
    not say all of it.
    """
    began_with = about.get("compiler_command")
    if began_with and given.compiler and given.compiler != began_with:
        raise UsageError(f"the run began with {began_with}; it cannot go on with {given.compiler}")
    if began_with:
        compiler_named(began_with)
    if other := differences(about, machine(began_with or given.compiler or default_compiler())):
        raise UsageError(
            f"the run began with {other}; --resume goes on with the same, so begin anew"
        )


def _begin(given: Namespace) -> tuple[Run, Plan, dict, Path]:
    """(run, plan, about, folder): of a new run, or of the one to resume."""
    if given.resume is not None:
        run, plan, about = restore(given.former)
        same_circumstances(given, about)
        place = Path(given.resume).resolve()
        return run, plan, about, place if place.is_dir() else place.parent
    folder = (
        Path(given.out).absolute()
        if given.out
        else report.RESULTS / datetime.now().strftime("%Y%m%d-%H%M%S")
    )
    folder.mkdir(parents=True, exist_ok=True)
    plan = _plan(given)
    about = machine(given.compiler or default_compiler()) | {
        "seed": plan.seed,
        "repetitions": plan.reps,
        "time_limit_seconds": plan.time_limit,
    }
    run = Run()
    if given.scaling:
        run, plan, about[scaling.ROWS] = scaling.begin(given)
    if given.every_row:
        about[seed_measure.ROWS] = "measured"
        run.cells = list(cells_of(plan))
        run.cells += seed_measure.cells_to_measure(usable_cpus(), besides=run.cells)
    return run, plan, about, folder


def _until(plan: Plan) -> str:
    if plan.reps:
        return f"{plan.reps} repetitions"
    count = f"{plan.least} to {plan.most}" if plan.most > plan.least else f"{plan.least}"
    whole = f", {plan.budget / 60:g} min in all" if plan.budget else ""
    return f"{count} repetitions, until ±{plan.precision:.0%} or {plan.cell_budget:g} s{whole}"


def bench(given: Namespace) -> int:
    run, plan, about, folder = _begin(given)
    builder = Builder(about.get("compiler_command", given.compiler or default_compiler()))
    progress.quiet = given.quiet_log
    warn(f"{about['cpu']}, {about['cores']} cores, {_until(plan)}, seed {plan.seed}")
    try:
        write = report.checkpoint(run, plan, about, folder, builder.versions)
        if about.get(seed_measure.ROWS):
            seed_measure.run_rows(plan, builder, run, write)
        elif about.get(scaling.ROWS):
            run_plan(plan, scaling.Counting(builder), run, write)
        else:
            run_plan(plan, builder, run, write)
    except (KeyboardInterrupt, SystemExit):
        if run.blocks:
            _tell(run, plan, about, folder)
            warn(f"sennit: interrupted; ./sennit bench --resume {folder} goes on")
        raise
    _tell(run, plan, about, folder)
    if run.state == "interrupted":
        warn(f"sennit: the budget is used up; ./sennit bench --resume {folder} goes on")
    if not any(cell.good for cell in run.cells):
        warn("sennit: no run gave a result")
        return REFUSED
    return REFUSED if any(cell.status == "wrong" for cell in run.cells) else 0


def _tell(run: Run, plan: Plan, about: dict, folder: Path) -> None:
    """Writes the files before it prints the table, which it prints even if the disk is full."""
    about["load_after"] = os.getloadavg()[0]
    try:
        report.write_files(run, plan, about, folder)
    except OSError as error:
        raise OSError(
            error.errno, error.strerror, error.filename or str(folder)
        ) from None  # a full disk names no file
    finally:
        if about.get(scaling.ROWS):
            say(scaling.plain(run, about))
        else:
            say(plain(Results(run.cells), shutil.get_terminal_size((160, 0)).columns))
    say(f"\nwritten: {folder}/RESULTS.md, RESULTS.csv, RESULTS.json, RESULTS.html, SEED-TABLES.md")
    if about.get(scaling.ROWS):
        say(f"written: {', '.join(scaling.write_page(run, about, folder))}")


# action -> (opens the files that it takes, acts)
ACTIONS: dict[str | None, tuple[Callable[[Namespace], None], Callable[[Namespace], int]]] = {
    None: (open_run, bench),
    "compare": (compare.open_files, compare.act),
    "page": (page.open_files, page.act),
    "seed-tables": (seed_measure.open_files, seed_measure.act),
    "publish": (publish.open_files, publish.act),
    "track": (track.open_files, track.act),
    "pages": (workload_pages.open_files, workload_pages.act),
    "pack": (lambda _: None, pack.act),
    "sweep-page": (sweep_page.open_files, sweep_page.act),
    "overhead": (lambda _: None, overhead.act),
}


def open_files(given: Namespace) -> None:
    ACTIONS[given.action][0](given)


def act(given: Namespace) -> int:
    return ACTIONS[given.action][1](given)
