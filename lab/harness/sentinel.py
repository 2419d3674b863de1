# SPDX-License-Identifier: Apache-2.0
"""A fixed piece of work, timed on every CPU at the same time before and after each block. It tells
a noisy block from a quiet one.
"""

import os
import struct
import time
from statistics import median
from typing import NoReturn

ROUNDS = 200_000  # some 10 ms of this interpreter
# Times the median of all sentinels: other programs took at least an eighth of a CPU.
NOISY = 1.15


def _work(rounds: int) -> float:
    begin = time.perf_counter()
    value = 1
    for _ in range(rounds):
        value = value * 1103515245 + 12345 & 0x7FFFFFFF
    return time.perf_counter() - begin


def _child(cpu: int, pipe: int, rounds: int) -> NoReturn:
    """Runs in a process of its own, which ends here even after an exception."""
    try:
        os.sched_setaffinity(0, {cpu})
        os.write(
            pipe, struct.pack("d", min(_work(rounds) for _ in range(2)))
        )  # the first one also warms up
    finally:
        os._exit(0)


def sentinel(rounds: int = ROUNDS) -> float | None:
    """Seconds on the slowest CPU; None where no process could be started."""
    children = []
    times: list[float] = []
    for cpu in sorted(os.sched_getaffinity(0)):
        read, write = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(read)
            os.close(write)
            continue
        if pid == 0:
            _child(cpu, write, rounds)
        os.close(write)
        children.append((pid, read))
    for pid, read in children:
        told = os.read(read, 8)
        os.close(read)
        os.waitpid(pid, 0)
        times += struct.unpack("d", told) if len(told) == 8 else ()
    return max(times, default=None)


def mark_noisy(blocks: list[dict]) -> None:
    """Sets `noisy` of each block: a sentinel beside it was slow. Nothing is dropped for it."""
    times = [seconds for block in blocks for seconds in block["sentinel"]]
    usual = median(times) if times else 0
    for block in blocks:
        block["noisy"] = any(seconds > NOISY * usual for seconds in block["sentinel"])
