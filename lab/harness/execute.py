# SPDX-License-Identifier: Apache-2.0
"""Runs one workload once in one runtime, in a process of its own, under a time and a memory limit."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from .answers import expected

TIME_LIMIT = 60.0  # seconds a run, warm-up included
MEMORY_LIMIT = 4 << 20  # KiB
POLL = 0.05  # seconds


class Failed(Exception):
    """The run gave no result; the text says why, for the table."""


def resident_kib(pid):
    """Resident memory of a process and of its children, from /proc."""
    total = 0
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1])
        for task in os.listdir(f"/proc/{pid}/task"):
            children = Path(f"/proc/{pid}/task/{task}/children")
            if children.exists():
                total += sum(resident_kib(int(child)) for child in children.read_text().split())
    except (OSError, ValueError):
        pass  # it ended meanwhile
    return total


def _wait(process, time_limit, memory_limit):
    end = time.monotonic() + time_limit
    while True:
        try:
            process.wait(timeout=POLL)
            return None
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                return f"did not finish within {time_limit:g} s"
            if resident_kib(process.pid) > memory_limit:
                return f"stopped at the memory limit of {memory_limit >> 10} MiB"


def run_once(command, runtime, workload, size, threads, time_limit=TIME_LIMIT, memory_limit=MEMORY_LIMIT):
    """The contract's dictionary. Raises Failed; a wrong answer is no exception but `ok` false."""
    process = subprocess.Popen([*command, workload, str(size), str(threads)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True)
    reason = _wait(process, time_limit, memory_limit)
    if reason:
        os.killpg(process.pid, signal.SIGKILL)
    out, err = process.communicate()
    if reason:
        raise Failed(reason)
    lines = out.strip().splitlines()
    try:
        found = json.loads(lines[-1])
        answer, seconds = found["answer"], float(found["seconds"])
    except (IndexError, ValueError, KeyError, TypeError):
        detail = (err.strip().splitlines() or ["no output"])[-1][:120]
        if process.returncode < 0:
            detail = f"{signal.Signals(-process.returncode).name}: {detail}"
        raise Failed(f"failed: {detail}") from None
    return {
        "runtime": runtime, "workload": workload, "size": int(size) if str(size).isdigit() else size,
        "threads": threads, "answer": answer, "ok": process.returncode == 0 and answer == expected(workload, str(size)),
        "seconds": seconds, "tasks": found.get("tasks"), "peak_rss_kib": found.get("peak_rss_kib"),
        "cpu_seconds": found.get("cpu_seconds"),
    }
