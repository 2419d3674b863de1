# SPDX-License-Identifier: Apache-2.0
"""The verbs run, list and bench of ./sennit."""

import argparse
import json
import random
import sys
from datetime import datetime
from pathlib import Path

from . import bench, report
from .build import ROOT, Builder, NotInstalled, default_compiler
from .catalogue import RUNTIMES, WORKLOADS, UsageError, runtime_named, thread_count, usable_cpus, workload_named
from .execute import TIME_LIMIT, Failed, run_once


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def _limit(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= 86400:
        raise UsageError(f"--time-limit must be a number of seconds, not '{text}'")
    return value


def _number(text, name, low, high):
    if not text.isdigit() or not low <= int(text) <= high:
        raise UsageError(f"{name} must be a number from {low} to {high}, not '{text}'")
    return int(text)


def run(arguments):
    parser = Parser(prog="sennit run")
    parser.add_argument("runtime")
    parser.add_argument("workload")
    parser.add_argument("size", nargs="?")
    parser.add_argument("--threads")
    parser.add_argument("--compiler")
    parser.add_argument("--time-limit", default=str(TIME_LIMIT))
    given = parser.parse_args(arguments)
    runtime = runtime_named(given.runtime)
    workload = workload_named(given.workload)
    size = workload.check(given.size or workload.default)
    threads = thread_count(given.threads) if given.threads is not None else usable_cpus()
    if runtime.name == "serial":
        threads = 1
    limit = _limit(given.time_limit)
    try:
        command = Builder(given.compiler).command(runtime.name)
        result = run_once(command, runtime.name, workload.name, size, threads, time_limit=limit)
    except NotInstalled as reason:
        raise UsageError(f"{runtime.name} is not installed: {reason}") from None
    except Failed as failure:
        print(f"sennit: {runtime.name} {workload.name}({size}): {failure}", file=sys.stderr)
        return 1
    print(json.dumps(result))
    if not result["ok"]:
        print(f"sennit: {runtime.name} {workload.name}({size}): wrong answer {result['answer']}", file=sys.stderr)
    return 0 if result["ok"] else 1


def list_all(arguments):
    parser = Parser(prog="sennit list")
    parser.add_argument("--compiler")
    given = parser.parse_args(arguments)
    builder = Builder(given.compiler)
    print("runtimes")
    for runtime in RUNTIMES.values():
        try:
            builder.command(runtime.name)
            state = "available"
        except NotInstalled as reason:
            state = f"not installed: {reason}"
        print(f"  {runtime.name:14} {runtime.language:5} {state}")
    print("workloads")
    for workload in WORKLOADS.values():
        sizes = ", ".join(workload.names) if workload.names else f"{workload.low} to {workload.high}"
        print(f"  {workload.name:14} default {workload.default}, sizes {sizes}")
    return 0


def _names(text, find, all_names):
    return [find(name).name for name in text.split(",")] if text else list(all_names)


def run_bench(arguments):
    parser = Parser(prog="sennit bench")
    parser.add_argument("--quick", action="store_true", help="small sizes, two repetitions")
    parser.add_argument("--full", action="store_true", help="every number of threads up to the cores, and uts")
    parser.add_argument("--workloads")
    parser.add_argument("--runtimes")
    parser.add_argument("--threads")
    parser.add_argument("--reps")
    parser.add_argument("--compiler")
    parser.add_argument("--seed")
    parser.add_argument("--out")
    parser.add_argument("--time-limit", default=str(TIME_LIMIT))
    given = parser.parse_args(arguments)
    cores = usable_cpus()
    standard = list(WORKLOADS) if given.full else [name for name in WORKLOADS if name != "uts"]
    workloads = _names(given.workloads, workload_named, standard)
    runtimes = _names(given.runtimes, runtime_named, RUNTIMES)
    if given.threads is not None:
        threads = [thread_count(text) for text in given.threads.split(",")]
    else:
        threads = list(range(1, cores + 1)) if given.full else [cores]
    reps = _number(given.reps, "--reps", 1, 1000) if given.reps is not None else (2 if given.quick else 5)
    seed = _number(given.seed, "--seed", 0, 2**31) if given.seed is not None else random.randrange(2**31)
    compiler = given.compiler or default_compiler()
    plan = bench.Plan(runtimes, workloads, bench.sizes_for(workloads, given.quick), threads, reps, seed,
                      _limit(given.time_limit))
    about = report.machine(compiler)
    about["seed"] = seed
    print(f"seed {seed}, {reps} repetitions, {about['cpu']}, {cores} cores", file=sys.stderr)
    cells = bench.run_plan(plan, Builder(compiler))
    if not any(cell.samples for cell in cells):
        for line in report.reasons(cells):
            print(line, file=sys.stderr)
        print("sennit: nothing could be run", file=sys.stderr)
        return 1
    out = Path(given.out) if given.out else ROOT / "build" / "results" / datetime.now().strftime("%Y%m%d-%H%M%S")
    report.write_files(cells, about, out)
    print(report.plain(cells))
    print(f"\nwritten: {out}/RESULTS.md, RESULTS.csv, RESULTS.json")
    wrong = [cell for cell in cells if cell.reason and cell.reason.startswith("wrong answer")]
    return 1 if wrong else 0


VERBS = {"run": run, "list": list_all, "bench": run_bench}


def main(arguments):
    try:
        if not arguments or arguments[0] not in VERBS:
            raise UsageError("verbs are: " + ", ".join(VERBS))
        return VERBS[arguments[0]](arguments[1:])
    except UsageError as error:
        print(f"sennit: {error}", file=sys.stderr)
        return 2
    except NotInstalled as error:
        print(f"sennit: {error}", file=sys.stderr)
        return 1
