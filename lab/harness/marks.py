# SPDX-License-Identifier: Apache-2.0
"""Marks of a figure: how few runs it has, and that its row used one CPU only. Also the version of a
runtime, and lab/gaps.toml, which says what the committed results lack.
"""

import functools
import tomllib
from collections.abc import Sequence
from statistics import median

from .bench import Cell
from .build import ROOT
from .catalogue import RUNTIMES, WORKLOADS
from .options import FEWEST

GAPS = ROOT / "lab" / "gaps.toml"
FEWEST_CPUS = 1.2  # CPU time ÷ wall time, below which a second worker has not worked
ONE_CPU = "one CPU"
# Runtimes that the compiler and the system's libraries bring.
OF_SYSTEM = {"serial", "bare-coroutine", "epoll", "pthread", "std-thread", "std-async"}


@functools.cache
def gaps() -> dict[str, list[dict]]:
    """The known gaps: `one_cpu` and `version`, each a list of tables with a `reason`."""
    return tomllib.loads(GAPS.read_text(encoding="utf-8"))


def gap(kind: str, runtime: str, workload: str = "") -> str | None:
    """Why a row of the runtime uses one CPU, or why its version is unknown; or None."""
    for one in gaps().get(kind, ()):
        if runtime in one["runtimes"] and workload in one.get("workloads", (workload,)):
            return one["reason"]
    return None


def cpus(samples: Sequence[dict]) -> float:
    """The mean number of CPUs that the runs used."""
    return median(one["cpu_seconds"] / one["seconds"] for one in samples)


def uses_one_cpu(workload: str, threads: int, samples: Sequence[dict]) -> bool:
    """Whether a row with several workers in a parallel workload used one CPU only. The load that a
    client gives decides how many CPUs its server needs, so such a row is never meant.
    """
    known = WORKLOADS.get(workload)
    parallel = known and not known.serial and not known.client
    return bool(samples and threads > 1 and parallel and cpus(samples) < FEWEST_CPUS)


def marks(cell: Cell) -> list[str]:
    few = [f"n={len(cell.samples)}"] if len(cell.samples) < FEWEST else []
    alone = uses_one_cpu(cell.workload, cell.threads, cell.samples)
    return few + ([ONE_CPU] if alone else [])


def marked(text: str, cell: Cell) -> str:
    """The text of a figure, with the marks of its cell."""
    found = ", ".join(marks(cell))
    return f"{text} ({found})" if found else text


def version(runtime: str, about: dict) -> str | None:
    """The version of a runtime in results, or None if it was not recorded."""
    recorded = about.get(f"version of {runtime}")
    kind = RUNTIMES.get(runtime)
    if recorded or kind is None:
        return recorded
    if kind.program:
        return version(kind.program, about)
    if kind.ours:
        return f"commit {about['commit']}" if about.get("commit") else None
    if runtime in OF_SYSTEM and about.get("compiler"):
        return f"{about['compiler']}, {about.get('allocator')}"
    return None
