# SPDX-License-Identifier: Apache-2.0
"""Converts the texts of the command line to values. Each mistake is one line."""

import random
import re
import shutil
from argparse import Namespace
from pathlib import Path

from .catalogue import (
    MAIN_JOB,
    RUNTIMES,
    UsageError,
    runtime_named,
    thread_count,
    usable_cpus,
    workloads_named,
)
from .limits import BENCH_TIME_LIMIT, QUICK_TIME_LIMIT, TIME_LIMIT
from .scaling_rows import THREADS, chosen, rows

FEWEST = 6  # samples that a 95 % interval of a median takes
BUDGET, QUICK_BUDGET = (
    720.0,
    600.0,
)  # seconds of a whole run that is not full, from its first run on
SCALING_TIME_LIMIT, SCALING_BUDGET = 10.0, 840.0  # seconds of a run, and of all runs
WITH_RESUME = {
    "verb",
    "action",
    "resume",
    "compiler",
    "quiet_log",
}  # all else was decided when the run began


def _amount(text: str, option: str, unit: str, most: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= most:
        raise UsageError(f"{option} must be a number of {unit}, at most {most}, not '{text}'")
    return value


def seconds(text: str) -> float:
    """The value of --time-limit."""
    return _amount(text, "--time-limit", "seconds", 86400)


def minutes(text: str) -> float:
    """The value of --budget, in seconds."""
    return 60 * _amount(text, "--budget", "minutes", 10080)


def number(text: str, name: str, low: int, high: int) -> int:
    if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
        raise UsageError(f"{name} must be a number from {low} to {high}, not '{text}'")
    return int(text)


def compiler_named(name: str | None) -> str | None:
    """None stands for the standard one, which is installed when it is missing."""
    if name is not None and name != "g++" and not shutil.which(name):
        raise UsageError(f"the compiler '{name}' is not installed")
    return name


def runtimes_named(text: str | None, workloads: list[str]) -> list[str]:
    """Those that are named, else all that have one of the workloads."""
    if text is None:
        return [
            runtime.name for runtime in RUNTIMES.values() if set(workloads) & set(runtime.offers)
        ]
    names = list(dict.fromkeys(runtime_named(name).name for name in text.split(",")))
    if not any(set(workloads) & set(RUNTIMES[name].offers) for name in names):
        raise UsageError(
            f"none of the runtimes {', '.join(names)} "
            f"has one of the workloads {', '.join(workloads)}"
        )
    return names


# --- the options of bench and of its actions ------------------------------------------------------


def _shared(given: Namespace) -> None:
    """Of those that several actions have."""
    given.reps = number(given.reps, "--reps", 1, 1000) if given.reps is not None else None
    given.seed = (
        number(given.seed, "--seed", 0, 2**31)
        if given.seed is not None
        else random.randrange(2**31)
    )


def _threads(given: Namespace, default: list[int]) -> None:
    texts = given.threads.split(",") if given.threads is not None else None
    given.threads = sorted(set(map(thread_count, texts))) if texts else default


def _check_bench(given: Namespace) -> None:
    if given.resume is not None:
        others = [
            f"--{name.replace('_', '-')}"
            for name, value in vars(given).items()
            if value and name not in WITH_RESUME
        ]
        if others:
            raise UsageError(
                "--resume continues with the options that the run began with; "
                f"it does not go with {others[0]}"
            )
        return
    if given.scaling:
        _check_scaling(given)
        return
    given.every_row = (
        given.full and not given.quick and given.workloads is None and given.runtimes is None
    )
    if given.workloads is not None:
        given.workloads = workloads_named(given.workloads)
    else:
        given.workloads = [*MAIN_JOB, "uts"] if given.full else list(MAIN_JOB)
    given.runtimes = runtimes_named(given.runtimes, given.workloads)
    _threads(given, list(range(1, usable_cpus() + 1)) if given.full else [usable_cpus()])
    _shared(given)
    usual_limit = (
        QUICK_TIME_LIMIT if given.quick else TIME_LIMIT if given.full else BENCH_TIME_LIMIT
    )
    given.time_limit = seconds(given.time_limit or str(usual_limit))
    usual = QUICK_BUDGET if given.quick else None if given.full else BUDGET
    given.budget = minutes(given.budget) if given.budget else usual
    given.compiler = compiler_named(given.compiler)


def _check_scaling(given: Namespace) -> None:
    if given.full:
        raise UsageError("--scaling does not go with --full")
    given.every_row = False
    if given.workloads is not None:
        given.workloads = workloads_named(given.workloads)
    else:
        given.workloads = list(dict.fromkeys(row.workload for row in rows()))
    if given.runtimes is not None:
        given.runtimes = runtimes_named(given.runtimes, given.workloads)
    else:
        given.runtimes = list(dict.fromkeys(row.runtime for row in rows()))
    if not chosen(given.workloads, given.runtimes):
        raise UsageError("lab/scaling.toml has none of these workloads in one of these runtimes")
    _threads(given, list(THREADS))
    given.threads = sorted({1, *given.threads})  # The ratios are those to one worker.
    _shared(given)
    given.time_limit = seconds(given.time_limit or str(SCALING_TIME_LIMIT))
    given.budget = minutes(given.budget) if given.budget else SCALING_BUDGET
    given.compiler = compiler_named(given.compiler)


def _is_results(place: str) -> bool:
    return Path(place).is_file() or Path(place, "RESULTS.json").is_file()


def _check_compare(given: Namespace) -> None:
    for place in (given.a, given.b):
        if not Path(place).exists():
            raise UsageError(f"there is no file or folder '{place}'")
    given.files = [_is_results(place) for place in (given.a, given.b)]
    if given.files[0] != given.files[1]:
        raise UsageError("compare takes two results files, or two build folders, not one of each")
    given.workloads = workloads_named(given.workloads) if given.workloads else list(MAIN_JOB)
    _threads(given, [usable_cpus()])
    _shared(given)
    given.time_limit = seconds(given.time_limit)


def _check_page(given: Namespace) -> None:
    if Path(given.out).is_dir():
        raise UsageError(f"--out takes a file, and {given.out} is a folder")


def _check_seed_tables(given: Namespace) -> None:
    if not given.files and not given.measure:
        raise UsageError(
            "seed-tables takes results files, or --measure FOLDER to make them; "
            "see ./sennit help bench seed-tables"
        )
    given.reps = number(given.reps, "--reps", 1, 1000) if given.reps else None
    given.time_limit = seconds(given.time_limit) if given.time_limit else None
    given.budget = minutes(given.budget) if given.budget else None


def _check_overhead(given: Namespace) -> None:
    given.reps = number(given.reps, "--reps", FEWEST, 1000)


def _check_pack(given: Namespace) -> None:
    given.compiler = compiler_named(given.compiler)
    file = Path(given.file)
    if not file.name.endswith(".tar.gz"):
        raise UsageError(f"pack writes an archive FILE.tar.gz, not '{file.name}'")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no folder '{file.parent}'")


def _check_sweep_page(given: Namespace) -> None:
    if not re.fullmatch("[a-z0-9-]+", given.name):
        raise UsageError(f"--name takes small letters, digits and '-', not '{given.name}'")


CHECKS = {
    None: _check_bench,
    "compare": _check_compare,
    "page": _check_page,
    "seed-tables": _check_seed_tables,
    "pack": _check_pack,
    "sweep-page": _check_sweep_page,
    "overhead": _check_overhead,
}


def check(given: Namespace) -> None:
    """Replaces the texts of bench and of its actions by values. Raises UsageError. No file is
    opened.
    """
    if given.action in CHECKS:
        CHECKS[given.action](given)
