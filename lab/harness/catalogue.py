# SPDX-License-Identifier: Apache-2.0
"""What can be run: runtimes, workloads, sizes. One line registers each."""

import os
import re
from dataclasses import dataclass

from .limits import MEMORY_LIMIT_KIB


class UsageError(Exception):
    """Bad input: one clear line for the user, exit code 2."""


FORKS = ("fib", "skynet", "nqueens", "matmul", "uts")
LOCKS = ("mutex-free", "mutex-contended", "condition", "sleepers")
THREADS = ("skynet-channel", "fiber-yield", "fiber-create", "channel-buffered", "fibers-blocked")  # as fibers
STRANDS = (*THREADS, *LOCKS, "channel-rendezvous")
FIBERS = (*STRANDS, "select-two", "timer-lateness", "timers-cancelled")
READY = ("cycle", "churn", "locality", "locality-share", "transfer")  # who is made ready, by whom, and run where
PORTED = ("skynet-channel", "fiber-yield", "fiber-create", "channel-rendezvous", "channel-buffered", "fibers-blocked")
RINGS = ("thread-ring", "parallel-thread-ring", "ping-pong")
ACTORS = (*RINGS, "counting-actor", "producer-consumer", "prime-factors", "mixed-scenario", "skynet-actor", "fan-in",
          "spawn-storm", "ring-work")
MONITORS = tuple(f"{what}-{count}" for what in ("monitor", "signal", "accept") for count in (1, 2, 4))
CONTROL = ("resume", "yield", "mutex", "create", *MONITORS)


@dataclass(frozen=True)
class Runtime:
    name: str
    language: str  # "C++", "Rust", "Go", "Java", "Erlang", "Haskell"
    title: str
    offers: tuple = FORKS  # workloads
    ours: bool = False  # no peer
    program: str = ""  # of which runtime, where it is another one's under other circumstances:
    environment: tuple = ()  # "NAME=VALUE"
    preload: str = ""  # a shared library, by its name
    package: str = ""  # Debian's, that has it


TCMALLOC = {"preload": "libtcmalloc_minimal.so.4", "package": "libtcmalloc-minimal4"}

RUNTIMES = {
    r.name: r
    for r in (
        Runtime("serial", "C++", "plain function"),
        Runtime("sennit", "C++", "Sennit", ours=True),
        Runtime("sennit-actor", "C++", "Sennit actors", ACTORS, ours=True),
        Runtime("sennit-fiber", "C++", "Sennit fibers", (*FIBERS, *READY, "yield", "mutex", "create"), ours=True),
        *(Runtime(f"sennit-fiber-{policy}", "C++", f"Sennit fibers, {policy}", FIBERS, ours=True, program="sennit-fiber",
                  environment=(f"SENNIT_SCHEDULING={policy}",)) for policy in ("sharing", "round-robin", "priority")),
        Runtime("sennit-fiber-tcmalloc", "C++", "Sennit fibers, tcmalloc", FIBERS, ours=True, program="sennit-fiber", **TCMALLOC),
        Runtime("sennit-coroutine", "C++", "Sennit coroutines", ("resume", "create"), ours=True),
        Runtime("sennit-generator", "C++", "Sennit generators", ("resume", "create"), ours=True),
        Runtime("sennit-monitor", "C++", "Sennit monitors", ("yield", "create", *MONITORS), ours=True),
        Runtime("onetbb", "C++", "oneTBB"),
        Runtime("openmp", "C++", "OpenMP tasks"),
        Runtime("rayon", "Rust", "rayon"),
        Runtime("chili", "Rust", "chili"),
        Runtime("forte", "Rust", "forte"),
        Runtime("std-async", "C++", "std::async", FORKS + THREADS),
        Runtime("std-thread", "C++", "std::thread",
                (*THREADS, *LOCKS, *READY, "timer-lateness", "yield", "mutex", "create", "monitor-1", "signal-1")),
        Runtime("pthread", "C++", "pthread (smallest stack)", (*THREADS, *READY, "yield", "create")),
        Runtime("boost-fiber", "C++", "Boost.Fiber", (*FORKS, *STRANDS, "timer-lateness")),
        Runtime("boost-fiber-tcmalloc", "C++", "Boost.Fiber, tcmalloc", (*STRANDS, "timer-lateness"), program="boost-fiber", **TCMALLOC),
        Runtime("boost-context", "C++", "Boost.Context", ("resume", "create")),
        Runtime("boost-coroutine2", "C++", "Boost.Coroutine2", ("resume", "create")),
        Runtime("go", "Go", "Go", FORKS + FIBERS + READY),
        Runtime("java-fjp", "Java", "Java ForkJoinPool"),
        Runtime("java-vt", "Java", "Java virtual threads", FORKS + STRANDS),
        Runtime("tokio", "Rust", "tokio", PORTED),
        Runtime("may", "Rust", "may", PORTED),
        Runtime("erlang", "Erlang", "Erlang", PORTED),
        Runtime("haskell", "Haskell", "Haskell (GHC)", PORTED),
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
    powers_of: int | None = None  # only these numbers are sizes
    memory_limit_kib: int = MEMORY_LIMIT_KIB

    def check(self, size):
        if self.names:
            if size not in self.names:
                raise UsageError(f"{self.name}: size must be one of {', '.join(self.names)}, not '{size}'")
            return size
        if not re.fullmatch(r"[0-9]{1,9}", size) or not self.low <= int(size) <= self.high:
            raise UsageError(f"{self.name}: size must be a number from {self.low} to {self.high}, not '{size}'")
        if self.powers_of and not _is_power(int(size), self.powers_of):
            raise UsageError(f"{self.name}: size must be a power of {POWERS[self.powers_of]}, not '{size}'")
        return str(int(size))


POWERS = {2: "two", 10: "ten"}
MANY = 999_999_999


def _is_power(number, base):
    while number > 1 and number % base == 0:
        number //= base
    return number == 1


WORKLOADS = {
    w.name: w
    for w in (
        Workload("fib", "39", "32", 0, 50),
        Workload("skynet", "8", "6", 0, 9),
        Workload("nqueens", "14", "11", 1, 16),
        Workload("matmul", "2048", "512", 32, 4096, powers_of=2),
        Workload("uts", "T1", "TT", names=("T1", "T3", "TT"), full=("T1", "T3")),
        Workload("skynet-channel", "1000000", "10000", 1, 10**8, full=("10000", "100000", "1000000"), powers_of=10),
        Workload("fiber-yield", "10000000", "100000", 1, MANY),
        Workload("fiber-create", "1000000", "10000", 1, MANY),
        Workload("channel-rendezvous", "5000000", "50000", 1, MANY),
        Workload("channel-buffered", "10000000", "100000", 1, MANY),
        Workload("mutex-free", "50000000", "500000", 1, MANY),
        Workload("mutex-contended", "50000000", "500000", 1, MANY),
        Workload("condition", "1000000", "10000", 1, MANY),
        Workload("fibers-blocked", "100000", "10000", 1, 10**7, full=("10000", "100000", "1000000"),
                 memory_limit_kib=12 << 20),
        Workload("sleepers", "100000", "10000", 1, 10**7),
        Workload("timer-lateness", "500", "50", 1, 10**6),
        Workload("timers-cancelled", "100000", "10000", 1, 10**7, full=("10000", "100000", "1000000"),
                 memory_limit_kib=12 << 20),
        Workload("select-two", "2000000", "20000", 1, MANY),
        Workload("cycle", "10000000", "100000", 1, MANY),
        Workload("churn", "10000000", "100000", 1, MANY),
        Workload("locality", "1000000", "10000", 1, MANY),
        Workload("locality-share", "1000000", "10000", 1, MANY),
        Workload("transfer", "1000", "20", 1, MANY),
        Workload("thread-ring", "50000000", "100000", 1, MANY),
        Workload("parallel-thread-ring", "50000000", "100000", 1, MANY),
        Workload("ping-pong", "50000000", "100000", 1, MANY),
        Workload("counting-actor", "10000000", "100000", 1, MANY),
        Workload("producer-consumer", "1000000", "10000", 1, MANY),
        Workload("prime-factors", "20000", "200", 1, MANY),
        Workload("mixed-scenario", "2000000", "20000", 1, MANY),
        Workload("skynet-actor", "1000000", "10000", 1, 10**8, powers_of=10),
        Workload("fan-in", "20000000", "200000", 1, MANY),
        Workload("spawn-storm", "1048576", "10000", 1, MANY),
        Workload("ring-work", "2000000", "20000", 1, MANY),
        *(Workload(name, "10000000", "100000", 1, MANY) for name in ("resume", "yield", "mutex")),
        Workload("create", "100000", "1000", 1, MANY),
        *(Workload(name, "1000000", "10000", 1, MANY) for name in MONITORS),
    )
}
MAIN_JOB = FORKS[:-1]  # uts only where it is asked for


def runtime_named(name):
    if name not in RUNTIMES:
        raise UsageError(f"no runtime is called '{name}'; there are: {', '.join(RUNTIMES)}")
    return RUNTIMES[name]


def workload_named(name):
    if name not in WORKLOADS:
        raise UsageError(f"no workload is called '{name}'; there are: {', '.join(WORKLOADS)}")
    return WORKLOADS[name]


def workloads_named(text):
    """Of a list with commas; `fibers`, `ready`, `actors` and `control` stand for all of those."""
    families = {"fibers": FIBERS, "ready": READY, "actors": ACTORS, "control": CONTROL}
    names = (name for item in text.split(",") for name in families.get(item, (item,)))
    return list(dict.fromkeys(workload_named(name).name for name in names))


def check_offered(runtime, workload):
    if workload not in RUNTIMES[runtime].offers:
        raise UsageError(f"{runtime} has no {workload}; it has: {', '.join(RUNTIMES[runtime].offers)}")


def thread_count(text):
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= 1024:
        raise UsageError(f"--threads must be a number from 1 to 1024, not '{text}'")
    return int(text)


def usable_cpus():
    """What the affinity mask leaves to this process."""
    return len(os.sched_getaffinity(0))
