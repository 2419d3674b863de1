# SPDX-License-Identifier: Apache-2.0
"""The verbs of ./sennit: run and list here, bench in bench_verbs. `check VERB ...` only judges the arguments."""

import io
import json
import shutil
import signal
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import NoReturn

from .build import Builder, NotInstalled
from .catalogue import FORKS, RUNTIMES, WORKLOADS, UsageError, check_offered, runtime_named, thread_count, usable_cpus, workload_named
from .execute import Failed, as_text, run_once
from .limits import TIME_LIMIT
from .options import REFUSED, Parser, compiler_named, seconds
from .say import warn

USAGE = 2  # exit code for bad input


def parse_run(arguments: list[str]) -> Namespace:
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
    given.time_limit = seconds(given.time_limit)
    given.compiler = compiler_named(given.compiler)
    return given


def run(given: Namespace) -> int:
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
        print(f"sennit: {what}: wrong answer {as_text(result['answer'])}", file=sys.stderr)
        return REFUSED
    return 0


def parse_list(arguments: list[str]) -> Namespace:
    parser = Parser("list")
    parser.add_argument("--compiler")
    given = parser.parse_args(arguments)
    given.compiler = compiler_named(given.compiler)
    return given


def list_all(given: Namespace) -> int:
    builder = Builder(given.compiler)
    print("runtimes")
    for runtime in RUNTIMES.values():
        try:
            builder.check(runtime.name)
            state = " ".join(["available", builder.versions.get(runtime.name, "")]).rstrip()
        except NotInstalled as reason:
            state = f"not installed: {reason}"
        print(f"  {runtime.name:24} {runtime.language:7} {state}", flush=True)
    print("workloads")
    for workload in WORKLOADS.values():
        sizes = ", ".join(workload.names) if workload.names else f"{workload.low} to {workload.high}"
        where = ""
        if workload.name not in FORKS:
            where = "; in " + ", ".join(one.name for one in RUNTIMES.values() if workload.name in one.offers and not one.program)
        print(f"  {workload.name:21} default {workload.default}, sizes {sizes}{where}")
    return 0


def install_charts(_: object) -> int:
    """For ./sennit only: not a verb of its own there."""
    from . import charts
    reason = charts.install()
    if reason:
        print(f"sennit: RESULTS.html will have no charts: {reason}", file=sys.stderr)
    return REFUSED if reason else 0


def print_packages(which: str) -> int:
    """For ./sennit setup only: Debian packages, one a line; those of tool chains that are there are left out."""
    for runtime in RUNTIMES.values():
        there = runtime.commands and all(map(shutil.which, runtime.commands))
        if runtime.packages and runtime.light == (which == "light") and not there:
            print("\n".join(runtime.packages))
    return 0


def verb_of(arguments: list[str]) -> tuple[Callable, Callable, list[str]]:
    """(parse, act, the arguments of the verb)"""
    if arguments[0] in ("run", "list"):
        return *{"run": (parse_run, run), "list": (parse_list, list_all)}[arguments[0]], arguments[1:]
    if arguments[0] == "charts":
        return lambda _: None, install_charts, []
    if arguments[0] == "packages":
        return lambda rest: rest[0], print_packages, arguments[1:]
    from . import bench_verbs  # not for run, whose start counts
    if arguments[1:2] and arguments[1] in bench_verbs.SUBVERBS:
        return *bench_verbs.SUBVERBS[arguments[1]], arguments[2:]
    return bench_verbs.parse_bench, bench_verbs.bench, arguments[1:]


def _end(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)  # so that a run in progress is ended, too


def main(arguments: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup starts it
            signal.signal(number, _end)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # titles are not all ASCII
    check = arguments[:1] == ["check"]
    parse, act, rest = verb_of(arguments[1:] if check else arguments)
    try:
        given = parse(rest)
        return 0 if check else act(given)
    except UsageError as error:
        warn(f"sennit: {error}")
        return USAGE
    except OSError as error:
        warn(f"sennit: {error}")
        return REFUSED
    except KeyboardInterrupt:
        warn("sennit: interrupted")
        return 128 + signal.SIGINT
