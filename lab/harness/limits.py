# SPDX-License-Identifier: Apache-2.0
"""Runs a program in a process group of its own, under a limit of time and one of memory; leaves
nothing behind.
"""

import contextlib
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

TIME_LIMIT, BENCH_TIME_LIMIT, QUICK_TIME_LIMIT = (
    30.0,
    15.0,
    10.0,
)  # seconds for one run, warm-up included
MEMORY_LIMIT_KIB = 4 << 20  # of the whole group
POLL = 0.05  # seconds between two looks at the memory
GROUP_EVERY = 1.0  # seconds between two looks at all of the group, or more:
GROUP_SHARE = 200  # times the duration of such a look, since finding the members reads all of /proc
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024
OUTPUT_KEPT = 1 << 16  # bytes of each stream, its end
OUTPUT_MOST = 64 << 20  # bytes that a program may print to either


@dataclass(frozen=True)
class Outcome:
    status: int  # as in subprocess: negative is a signal
    out: str
    err: str
    limit: str | None  # which limit struck, in words
    voluntary_switches: int = 0  # of the program's threads, and of children that it waited for
    involuntary_switches: int = 0


def _read(path: str) -> bytes:
    """Reads a small file of /proc with as few calls as possible, because it runs beside the timed
    program."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def _resident_kib(pid: int) -> int:
    try:
        return int(_read(f"/proc/{pid}/statm").split()[1]) * PAGE_KIB
    except (OSError, IndexError):
        return 0  # it ended meanwhile


def _members(group: int) -> Iterator[int]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
            if os.getpgid(int(name)) == group:
                yield int(name)


def _end_group(process: subprocess.Popen) -> resource.struct_rusage:
    """Ends the group; returns the resource usage of its leader after every member has ended, so
    that no member disturbs the next run."""
    members = []
    for pid in _members(process.pid):
        try:
            members.append(os.pidfd_open(pid))
        except OSError:
            pass  # it ended meanwhile
    try:
        os.killpg(process.pid, signal.SIGKILL)  # the group exists: its leader is not yet reaped
        for member in members:
            select.select([member], [], [])
    finally:
        for member in members:
            os.close(member)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used


def _too_much(outputs: Sequence[IO[bytes]]) -> str | None:
    """They are held in memory, so they have a limit, too."""
    if any(os.fstat(file.fileno()).st_size > OUTPUT_MOST for file in outputs):
        return f"printed more than {OUTPUT_MOST >> 20} MiB"
    return None


def _watch(
    process: subprocess.Popen,
    time_limit: float,
    memory_limit_kib: int,
    outputs: Sequence[IO[bytes]],
) -> str | None:
    """Waits for the end of the process, or names the limit that it reached."""
    end = time.monotonic() + time_limit
    # The descriptor wakes this wait immediately. Waiting in steps would disturb short runs.
    ended = os.pidfd_open(process.pid)
    try:
        next_look = time.monotonic() + GROUP_EVERY
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return f"did not finish within {time_limit:g} s"
            if select.select([ended], [], [], min(POLL, left))[0]:
                return _too_much(outputs)
            used, begin = _resident_kib(process.pid), time.monotonic()
            if begin >= next_look:
                used = sum(map(_resident_kib, _members(process.pid)))
                next_look = time.monotonic() + max(
                    GROUP_EVERY, GROUP_SHARE * (time.monotonic() - begin)
                )
            if used > memory_limit_kib:
                return f"stopped at the memory limit of {memory_limit_kib // 1024} MiB"
            if too_much := _too_much(outputs):
                return too_much
    finally:
        os.close(ended)


def run_to_end(
    command: list[str], time_limit: float, out: IO, err: IO, env: dict[str, str] | None = None
) -> int | None:
    """The status, or None if the program did not finish in time. Raises OSError if it cannot be
    started. The group ends with this call, also after an exception."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, start_new_session=True
    )
    try:
        ended = os.pidfd_open(process.pid)
        try:
            in_time = bool(select.select([ended], [], [], time_limit)[0])
        finally:
            os.close(ended)
    finally:
        _end_group(process)
    return process.returncode if in_time else None


def _tail(file: IO[bytes]) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - OUTPUT_KEPT))
    return file.read().decode(errors="replace")


def run_limited(
    command: list[str], time_limit: float = TIME_LIMIT, memory_limit_kib: int = MEMORY_LIMIT_KIB
) -> Outcome:
    """Runs the program under both limits. Raises OSError if it cannot be started. The group ends
    with this call, also after an exception."""
    # Files, not pipes: a program that talks much never waits for us, and a stray child cannot hold
    # us up. They lie in memory, since a disk may be full.
    with open(os.memfd_create("out"), "w+b") as out, open(os.memfd_create("err"), "w+b") as err:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        try:
            limit = _watch(process, time_limit, memory_limit_kib, (out, err))
        finally:
            used = _end_group(process)
        return Outcome(
            process.returncode, _tail(out), _tail(err), limit, used.ru_nvcsw, used.ru_nivcsw
        )
