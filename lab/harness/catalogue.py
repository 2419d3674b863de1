# SPDX-License-Identifier: Apache-2.0
"""The catalogue: runtimes, workloads and sizes, as declared in their folders."""

import os
import re

from . import declared
from .declared import Runtime, UsageError, Workload

FAMILIES = declared.families()  # family -> name -> Workload
WORKLOADS: dict[str, Workload] = {
    name: workload for family in FAMILIES.values() for name, workload in family.items()
}
RUNTIMES: dict[str, Runtime] = declared.runtimes(FAMILIES)
# Programs without a runtime, which the tables show beside the others. They are no peers. Those of
# the first set have one thread.
SERIAL_FLOORS = {"serial", "bare-coroutine"}
FLOORS = SERIAL_FLOORS | {"epoll", "epoll-edges", "epoll-tls"}

FORKS, FIBERS = tuple(FAMILIES["forks"]), tuple(FAMILIES["fibers"])
MAIN_JOB = (
    "fib",
    "skynet",
    "nqueens",
    "matmul",
)  # other workloads of forks only where they are asked for


def runtime_named(name: str) -> Runtime:
    if name not in RUNTIMES:
        raise UsageError(f"no runtime is called '{name}'; there are: {', '.join(RUNTIMES)}")
    return RUNTIMES[name]


def workload_named(name: str) -> Workload:
    if name not in WORKLOADS:
        raise UsageError(f"no workload is called '{name}'; there are: {', '.join(WORKLOADS)}")
    return WORKLOADS[name]


def workloads_named(text: str) -> list[str]:
    """Of a list with commas; the name of a family stands for all of it, `all` for all families."""
    families = {**FAMILIES, "all": WORKLOADS}
    names = (name for item in text.split(",") for name in families.get(item, (item,)))
    return list(dict.fromkeys(workload_named(name).name for name in names))


def check_offered(runtime: str, workload: str) -> None:
    if workload not in RUNTIMES[runtime].offers:
        raise UsageError(
            f"{runtime} has no {workload}; it has: {', '.join(RUNTIMES[runtime].offers)}"
        )


def thread_count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= 1024:
        raise UsageError(f"--threads must be a number from 1 to 1024, not '{text}'")
    return int(text)


def usable_cpus() -> int:
    """The number of CPUs in the affinity mask of this process."""
    return len(os.sched_getaffinity(0))
