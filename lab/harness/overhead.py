# SPDX-License-Identifier: Apache-2.0
"""`bench overhead`: the time that the harness adds to a run, and the time it takes around each run.
Close other programs first.

Two pairs are measured in turns, so that a slow minute meets both. One program keeps every CPU busy;
it is started bare and started as a bench does, and reports its own time. The other program ends at
once; its wall time is measured from start to reaped.
"""

import json
import os
import shlex
import time
from argparse import Namespace
from collections.abc import Callable
from statistics import median

from .build import Builder, NotInstalled
from .catalogue import usable_cpus
from .execute import Failed, run_once
from .parser import REFUSED
from .say import warn
from .stats import Interval, median_interval

MOST_ADDED, MOST_AROUND = 0.02, 0.050  # of the time of a run; seconds
BUSY, IDLE = ("fib", "39"), ("fib", "1")


def bare(command: list[str]) -> dict:
    """The output of the program, started without the harness."""
    read, write = os.pipe()
    pid = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_CLOSE, read)],
    )
    os.close(write)
    with open(read, encoding="utf-8") as told:
        text = told.read()
    if os.waitpid(pid, 0)[1] != 0:
        raise Failed(f"{shlex.join(command)} failed")
    return json.loads(text)


def _timed(run: Callable[[], dict]) -> tuple[float, float]:
    """(seconds that the program says, seconds of the wall around it)"""
    begin = time.monotonic()
    said = run()
    return said["seconds"], time.monotonic() - begin


def pairs(
    command: list[str], workload: tuple[str, str], threads: int, reps: int
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """reps times ((said, wall) under the harness, (said, wall) bare); which of the two comes
    first alternates.
    """
    name, size = workload
    ways = (
        lambda: run_once(command, "sennit", name, size, threads),
        lambda: bare([*command, name, size, str(threads)]),
    )
    found = []
    for turn in range(reps):
        first = _timed(ways[turn % 2])
        second = _timed(ways[1 - turn % 2])
        found.append((first, second) if turn % 2 == 0 else (second, first))
    return found


def _middle(of_pairs: list[float]) -> tuple[float, Interval]:
    """Their median with its 95 % interval. They are FEWEST at least."""
    interval = median_interval(of_pairs)
    assert interval
    return median(of_pairs), interval


def overheads(
    command: list[str], threads: int, reps: int
) -> tuple[tuple[float, Interval], tuple[float, Interval]]:
    """(part of a run's time that is added, seconds around a run): each the median of the pairs
    with its interval.
    """
    added = [ours / theirs - 1 for (ours, _), (theirs, _) in pairs(command, BUSY, threads, reps)]
    around = [ours - theirs for (_, ours), (_, theirs) in pairs(command, IDLE, threads, reps)]
    return _middle(added), _middle(around)


def act(given: Namespace) -> int:
    try:
        command = Builder().command("sennit")
        (added, added_interval), (around, around_interval) = overheads(
            command, usable_cpus(), given.reps
        )
    except (NotInstalled, Failed) as reason:
        warn(f"sennit: {reason}")
        return REFUSED
    print(
        "added to a run: {:.2%}, 95 % interval {:.2%} to {:.2%}; at most {:.0%} is wanted".format(
            added, *added_interval, MOST_ADDED
        )
    )
    print(
        "around a run: {:.1f} ms, 95 % interval {:.1f} to {:.1f} ms; "
        "at most {:.0f} ms are wanted".format(
            *(1000 * value for value in (around, *around_interval, MOST_AROUND))
        )
    )
    over = [
        name
        for name, value, most in (
            ("time of a run", added, MOST_ADDED),
            ("time around it", around, MOST_AROUND),
        )
        if value > most
    ]
    for name in over:
        warn(f"sennit: the harness adds too much to the {name}")
    return REFUSED if over else 0
