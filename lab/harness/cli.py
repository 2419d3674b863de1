# SPDX-License-Identifier: Apache-2.0
"""Runs the verbs of ./sennit. This file holds run and list; bench_verbs.py holds bench,
project.py the rest.
"""

import io
import json
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import NoReturn

from . import install, project
from .build import Builder, NotInstalled, under_client
from .catalogue import (
    FORKS,
    RUNTIMES,
    WORKLOADS,
    UsageError,
    check_offered,
    runtime_named,
    thread_count,
    usable_cpus,
    workload_named,
)
from .execute import Failed, as_text, run_once
from .options import check, compiler_named, seconds
from .parser import REFUSED, USAGE, parse
from .say import warn


def check_run(given: Namespace) -> None:
    """Replaces texts of the command line by values. Raises UsageError."""
    given.runtime = runtime_named(given.runtime).name
    workload = workload_named(given.workload)
    check_offered(given.runtime, workload.name)
    given.size = workload.check(workload.default if given.size is None else given.size)
    given.threads = usable_cpus() if given.threads is None else thread_count(given.threads)
    if given.runtime == "serial":
        given.threads = 1
    given.time_limit = seconds(given.time_limit)
    given.compiler = compiler_named(given.compiler)


def run(given: Namespace) -> int:
    what = f"{given.runtime} {given.workload}({given.size})"
    try:
        builder = Builder(given.compiler)
        client = WORKLOADS[given.workload].client
        command = under_client(builder, client, builder.command(given.runtime))
        result = run_once(
            command, given.runtime, given.workload, given.size, given.threads, given.time_limit
        )
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


def check_list(given: Namespace) -> None:
    given.compiler = compiler_named(given.compiler)


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
        sizes = (
            ", ".join(workload.names) if workload.names else f"{workload.low} to {workload.high}"
        )
        where = ""
        if workload.name not in FORKS:
            where = "; in " + ", ".join(
                one.name
                for one in RUNTIMES.values()
                if workload.name in one.offers and not one.program
            )
        print(f"  {workload.name:21} default {workload.default}, sizes {sizes}{where}")
    return 0


def lab_verb(given: Namespace, arguments: Sequence[str]) -> int:
    """run and list need no library of Python, since scripts call run often and its start counts."""
    if given.verb == "run":
        check_run(given)
        install.ensure_build_tools()
        return run(given)
    if given.verb == "list":
        check_list(given)
        install.ensure_build_tools()
        return list_all(given)
    wants_all = given.action is None and given.full and not (given.workloads or given.runtimes)
    check(given)  # bad input must not install anything
    install.restart_with_libraries(arguments)
    from . import bench_verbs  # needs the libraries

    bench_verbs.open_files(given)
    if given.action is None:
        install.setup(wants_all)
    elif given.action in ("overhead", "pack"):
        install.ensure_build_tools()
    if given.action in (None, "page", "seed-tables"):
        install.install_charts()
    return bench_verbs.act(given)


def _end(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)  # which also ends a run in progress


def main(arguments: Sequence[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup starts it
            signal.signal(number, _end)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # titles are not all ASCII
    try:
        given = parse(arguments)
        if given.verb in project.VERBS:
            return project.VERBS[given.verb](given, arguments[1:])
        return lab_verb(given, arguments)
    except UsageError as error:
        warn(f"sennit: {error}")
        return USAGE
    except (OSError, install.CannotInstall) as error:
        warn(f"sennit: {error}")
        return REFUSED
    except KeyboardInterrupt:
        warn("sennit: interrupted")
        return 128 + signal.SIGINT
