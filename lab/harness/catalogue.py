# SPDX-License-Identifier: Apache-2.0
"""What can be run: runtimes, workloads, sizes. One line registers each."""

import os
import re
from dataclasses import dataclass


class UsageError(Exception):
    """Bad input: one clear line for the user, exit code 2."""


@dataclass(frozen=True)
class Runtime:
    name: str
    language: str  # "C++", "Rust", "Go", "Java"
    title: str


RUNTIMES = {
    r.name: r
    for r in (
        Runtime("serial", "C++", "plain function"),
        Runtime("sennit", "C++", "Sennit"),
        Runtime("onetbb", "C++", "oneTBB"),
        Runtime("openmp", "C++", "OpenMP tasks"),
        Runtime("rayon", "Rust", "rayon"),
        Runtime("chili", "Rust", "chili"),
        Runtime("forte", "Rust", "forte"),
        Runtime("std-async", "C++", "std::async"),
        Runtime("boost-fiber", "C++", "Boost.Fiber"),
        Runtime("go", "Go", "Go"),
        Runtime("java-fjp", "Java", "Java ForkJoinPool"),
        Runtime("java-vt", "Java", "Java virtual threads"),
        Runtime("libfork", "C++", "libfork"),
        Runtime("toomanycooks", "C++", "TooManyCooks"),
        Runtime("citor", "C++", "citor"),
        Runtime("taskflow", "C++", "taskflow"),
    )
}


@dataclass(frozen=True)
class Workload:
    name: str
    default: str
    quick: str
    low: int = 0
    high: int = 0
    names: tuple = ()  # sizes that are no numbers
    full: tuple = ()  # sizes of `bench --full`, where they are not the default

    def check(self, size):
        if self.names:
            if size not in self.names:
                raise UsageError(f"{self.name}: size must be one of {', '.join(self.names)}, not '{size}'")
            return size
        if not re.fullmatch(r"[0-9]{1,9}", size) or not self.low <= int(size) <= self.high:
            raise UsageError(f"{self.name}: size must be a number from {self.low} to {self.high}, not '{size}'")
        if self.name == "matmul" and int(size) & (int(size) - 1):
            raise UsageError(f"matmul: size must be a power of two, not '{size}'")
        return str(int(size))


WORKLOADS = {
    w.name: w
    for w in (
        Workload("fib", "39", "32", 0, 50),
        Workload("skynet", "8", "6", 0, 9),
        Workload("nqueens", "14", "11", 1, 16),
        Workload("matmul", "2048", "512", 32, 4096),
        Workload("uts", "T1", "TT", names=("T1", "T3", "TT"), full=("T1", "T3")),
    )
}


def runtime_named(name):
    if name not in RUNTIMES:
        raise UsageError(f"no runtime is called '{name}'; there are: {', '.join(RUNTIMES)}")
    return RUNTIMES[name]


def workload_named(name):
    if name not in WORKLOADS:
        raise UsageError(f"no workload is called '{name}'; there are: {', '.join(WORKLOADS)}")
    return WORKLOADS[name]


def thread_count(text):
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= 1024:
        raise UsageError(f"--threads must be a number from 1 to 1024, not '{text}'")
    return int(text)


def usable_cpus():
    """What the affinity mask leaves to this process."""
    return len(os.sched_getaffinity(0))
