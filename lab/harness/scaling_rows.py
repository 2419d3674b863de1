# SPDX-License-Identifier: Apache-2.0
"""The rows of docs/scaling.md, as lab/scaling.toml describes them. Needs the standard library
alone, because the options of `bench` are checked before anything is installed.
"""

import functools
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from .declared import LAB

DESCRIPTION = LAB / "scaling.toml"
THREADS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Row:
    runtime: str
    workload: str
    size: str
    parallel: bool  # else serial by construction

    def ideal(self, threads: int, cores: int) -> float:
        """The ideal time with so many workers, divided by the time of one worker."""
        return 1 / min(threads, cores) if self.parallel else 1.0


@functools.cache
def rows() -> tuple[Row, ...]:
    groups = tomllib.loads(DESCRIPTION.read_text(encoding="utf-8"))["group"]
    return tuple(
        Row(runtime, row["workload"], row["size"], row.get("parallel", False))
        for group in groups
        for row in group["rows"]
        for runtime in group["runtimes"]
    )


@functools.cache
def causes() -> dict[tuple[str, str], str]:
    """The cause of each loss that has been measured: (runtime, workload) to one sentence or two."""
    return {
        (runtime, cause["workload"]): cause["text"]
        for cause in tomllib.loads(DESCRIPTION.read_text(encoding="utf-8")).get("cause", [])
        for runtime in cause["runtimes"]
    }


def chosen(workloads: Iterable[str], runtimes: Iterable[str]) -> list[Row]:
    workloads, runtimes = set(workloads), set(runtimes)
    return [row for row in rows() if row.workload in workloads and row.runtime in runtimes]
