# SPDX-License-Identifier: Apache-2.0
"""The verbs run, list and bench of ./sennit. `check VERB ...` only judges the arguments."""

import argparse
import json
import os
import random
import re
import shutil
import signal
import sys
from datetime import datetime
from pathlib import Path

from . import report
from .bench import CELL_BUDGET, QUICK_CELL_BUDGET, Plan, jobs_for, run_plan
from .build import Builder, NotInstalled, default_compiler
from .catalogue import (FIBERS, MAIN_JOB, RUNTIMES, WORKLOADS, UsageError, check_offered, runtime_named, thread_count,
                        usable_cpus, workload_named, workloads_named)
from .execute import Failed, run_once
from .limits import QUICK_TIME_LIMIT, TIME_LIMIT
from .machine import machine
from .table import Results, plain

USAGE, REFUSED = 2, 1  # exit codes: bad input; what was asked for could not be done


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, verb):
        super().__init__(prog=f"sennit {verb}", allow_abbrev=False, add_help=False)

    def error(self, message):
        raise UsageError(f"{self.prog.split()[1]}: {message}; see ./sennit --help")


def _seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86400:
        raise UsageError(f"--time-limit must be a number of seconds, at most 86400, not '{text}'")
    return value


def _number(text, name, low, high):
    if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
        raise UsageError(f"{name} must be a number from {low} to {high}, not '{text}'")
    return int(text)


def _compiler(name):
    """None stands for the standard one, which is installed when it is missing."""
    if name is not None and name != "g++" and not shutil.which(name):
        raise UsageError(f"the compiler '{name}' is not installed")
    return name


def _runtimes(text, workloads):
    """Those that are named, else all that have one of the workloads."""
    if text is None:
        return [runtime.name for runtime in RUNTIMES.values() if set(workloads) & set(runtime.offers)]
    names = list(dict.fromkeys(runtime_named(name).name for name in text.split(",")))
    if not any(set(workloads) & set(RUNTIMES[name].offers) for name in names):
        raise UsageError(f"none of the runtimes {', '.join(names)} has one of the workloads {', '.join(workloads)}")
    return names


def parse_run(arguments):
    parser = Parser("run")
    parser.add_argument("runtime")
    parser.add_argument("workload")
    parser.add_argument("size", nargs="?")
    parser.add_argument("--threads")
    parser.add_argument("--compiler")
    parser.add_argument("--time-limit", default=str(TIME_LIMIT))
    given = parser.parse_args(arguments)
    given.runtime = runtime_named(given.runtime).name
    workload = workload_named(given.workload)
    check_offered(given.runtime, workload.name)
    given.size = workload.check(workload.default if given.size is None else given.size)
    given.threads = usable_cpus() if given.threads is None else thread_count(given.threads)
    if given.runtime == "serial":
        given.threads = 1
    given.time_limit = _seconds(given.time_limit)
    given.compiler = _compiler(given.compiler)
    return given


def run(given):
    what = f"{given.runtime} {given.workload}({given.size})"
    try:
        command = Builder(given.compiler).command(given.runtime)
        result = run_once(command, given.runtime, given.workload, given.size, given.threads, given.time_limit)
    except NotInstalled as reason:
        print(f"sennit: {given.runtime} is not installed: {reason}", file=sys.stderr)
        return REFUSED
    except Failed as failure:
        print(f"sennit: {what}: {failure}", file=sys.stderr)
        return REFUSED
    print(json.dumps(result), flush=True)
    if not result["ok"]:
        print(f"sennit: {what}: wrong answer {result['answer']}", file=sys.stderr)
        return REFUSED
    return 0


def parse_list(arguments):
    parser = Parser("list")
    parser.add_argument("--compiler")
    given = parser.parse_args(arguments)
    given.compiler = _compiler(given.compiler)
    return given


def list_all(given):
    builder = Builder(given.compiler)
    print("runtimes")
    for runtime in RUNTIMES.values():
        try:
            builder.check(runtime.name)
            state = "available"
        except NotInstalled as reason:
            state = f"not installed: {reason}"
        print(f"  {runtime.name:14} {runtime.language:5} {state}", flush=True)
    print("workloads")
    for workload in WORKLOADS.values():
        sizes = ", ".join(workload.names) if workload.names else f"{workload.low} to {workload.high}"
        where = ""
        if workload.name in FIBERS:
            where = "; in " + ", ".join(one.name for one in RUNTIMES.values() if workload.name in one.offers)
        print(f"  {workload.name:18} default {workload.default}, sizes {sizes}{where}")
    return 0


def parse_bench(arguments):
    parser = Parser("bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    for option in ("--workloads", "--runtimes", "--threads", "--reps", "--compiler", "--seed", "--out"):
        parser.add_argument(option)
    parser.add_argument("--time-limit")
    given = parser.parse_args(arguments)
    if given.workloads is not None:
        given.workloads = workloads_named(given.workloads)
    else:
        given.workloads = [*MAIN_JOB, "uts"] if given.full else list(MAIN_JOB)
    given.runtimes = _runtimes(given.runtimes, given.workloads)
    if given.threads is not None:
        given.threads = sorted({thread_count(text) for text in given.threads.split(",")})
    else:
        given.threads = list(range(1, usable_cpus() + 1)) if given.full else [usable_cpus()]
    given.reps = _number(given.reps, "--reps", 1, 1000) if given.reps is not None else 2 if given.quick else 5
    given.seed = _number(given.seed, "--seed", 0, 2**31) if given.seed is not None else random.randrange(2**31)
    given.time_limit = _seconds(given.time_limit or str(QUICK_TIME_LIMIT if given.quick else TIME_LIMIT))
    given.compiler = _compiler(given.compiler)
    return given


def bench(given):
    compiler = given.compiler or default_compiler()
    builder = Builder(compiler)
    folder = Path(given.out).absolute() if given.out else report.RESULTS / datetime.now().strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(given.runtimes, list(jobs_for(given.workloads, given.quick, given.full)), given.threads, given.reps,
                given.seed, given.time_limit, QUICK_CELL_BUDGET if given.quick else CELL_BUDGET)
    about = machine(compiler) | {"seed": plan.seed, "repetitions": plan.reps, "time_limit_seconds": plan.time_limit}
    print(f"{about['cpu']}, {about['cores']} cores, {plan.reps} repetitions, seed {plan.seed}", file=sys.stderr)
    cells = run_plan(plan, builder)
    about["load_after"] = os.getloadavg()[0]
    report.write_files(cells, about, folder)
    print(plain(Results(cells), shutil.get_terminal_size((160, 0)).columns))
    print(f"\nwritten: {folder}/RESULTS.md, RESULTS.csv, RESULTS.json")
    if not any(cell.good for cell in cells):
        print("sennit: no run gave a result", file=sys.stderr)
        return REFUSED
    return REFUSED if any(cell.status == "wrong" for cell in cells) else 0


VERBS = {"run": (parse_run, run), "list": (parse_list, list_all), "bench": (parse_bench, bench)}


def _end(number, _frame):
    raise SystemExit(128 + number)  # so that a run in progress is ended, too


def main(arguments):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    check = arguments[:1] == ["check"]
    verb, *rest = arguments[1:] if check else arguments
    parse, act = VERBS[verb]
    try:
        given = parse(rest)
        return 0 if check else act(given)
    except UsageError as error:
        print(f"sennit: {error}", file=sys.stderr)
        return USAGE
    except OSError as error:
        print(f"sennit: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("sennit: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
