#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the programs of a pack on a machine without tools, within a budget of seconds.

    ./run --budget 500 --out FOLDER

jobs.toml says what runs, most valuable first. A pass runs each job once, in a process of its own;
further passes follow while the budget lasts. Each result is a line of results.jsonl as soon as it
is there, so a run that is cut off loses one job at most. Needs Python 3.11 and its standard library.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BIN = HERE / "bin"
RESERVE = 3.0  # seconds of the budget that no job may use: the table is written in them


@dataclass
class Job:
    group: str
    command: list[str]
    threads: int
    environment: dict[str, str]
    passes: int
    limit: float
    walls: list[float] = field(default_factory=list)
    failed: bool = False

    def key(self) -> tuple[str, ...]:
        """What jobs that differ only in the number of threads have in common."""
        return (self.group, *(" " if c == str(self.threads) else c for c in self.command))


def thread_counts(processors: int, wanted: str) -> list[int]:
    """`all`: powers of two up to the processors; `top`: the processors; `over`: twice and four
    times as many; else a list of numbers, of which those above the processors are left out."""
    powers = [1 << i for i in range(11) if 1 << i < processors] + [processors]
    if wanted == "all":
        return powers
    if wanted == "parallel":
        return powers[1:]
    if wanted == "ends":
        return sorted({1, processors})
    if wanted == "top":
        return [processors]
    if wanted == "half":
        return sorted({max(1, processors // 2), processors})
    if wanted == "over":
        return [2 * processors, 4 * processors]
    raise ValueError(f"jobs.toml: unknown threads {wanted!r}")


def jobs(description: dict[str, Any], processors: int) -> list[Job]:
    found: list[Job] = []
    for group in description["group"]:
        for threads in thread_counts(processors, group["threads"]):
            for program in group["programs"]:
                if not (BIN / program).exists():
                    continue
                for arguments in group["arguments"]:
                    words = [
                        str(max(1, threads // 4)) if w == "W/4" else str(threads) if w == "W" else
                        str(2 * threads) if w == "2W" else str(64 * threads) if w == "64W" else w
                        for w in arguments.split()
                    ]
                    found.append(
                        Job(
                            group["name"],
                            [program, *words],
                            threads,
                            group.get("environment", {}),
                            group.get("passes", 1000),
                            group.get("limit", 15.0),
                        )
                    )
    return found


def run(job: Job, limit: float) -> dict[str, Any]:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(HERE / "lib"), **job.environment}
    if "LD_PRELOAD" in environment:
        environment["LD_PRELOAD"] = str(BIN / environment["LD_PRELOAD"])
    begin = time.monotonic()
    result: dict[str, Any] = {"group": job.group, "command": job.command, "threads": job.threads,
                              "environment": job.environment, "rows": []}
    try:
        done = subprocess.run([str(BIN / job.command[0]), *job.command[1:]], env=environment,
                              capture_output=True, text=True, timeout=limit)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                result["rows"].append(json.loads(line))
        result["status"] = done.returncode
        if done.returncode != 0 or not result["rows"]:
            result["error"] = done.stderr.strip()[-300:]
    except subprocess.TimeoutExpired:
        result["status"] = "time limit"
    result["wall"] = round(time.monotonic() - begin, 3)
    return result


def machine() -> dict[str, Any]:
    def text(*command: str) -> str:
        if not shutil.which(command[0]):
            return ""
        return subprocess.run(command, capture_output=True, text=True).stdout

    return {"group": "machine", "uname": " ".join(platform.uname()), "lscpu": text("lscpu"),
            "processors": len(os.sched_getaffinity(0)), "load": os.getloadavg()}


FIGURES = {"phases": "median_us", "limited": "round_us", "convoy": "began_p90_us",
           "births": "ns_an_actor", "crossfree": "ns_a_fiber", "talk": "ns_an_operation",
           "forks": "median_us"}


def figure(row: dict[str, Any]) -> float | None:
    if "seconds" in row:
        if "expected" in row and row.get("answer") != row["expected"]:
            return None
        return row["seconds"] * 1e3
    return row.get(FIGURES.get(row.get("program", ""), ""))


def tables(results: list[dict[str, Any]], all_jobs: list[Job]) -> str:
    """A line for each job with the median of each number of threads, and the last ÷ the first."""
    cells: dict[tuple[str, ...], dict[int, list[float]]] = {}
    for one in results:
        if one["group"] == "machine":
            continue
        job = Job(one["group"], one["command"], one["threads"], {}, 1, 1)
        for row in one["rows"]:
            value = figure(row)
            if value is not None:
                cells.setdefault(job.key(), {}).setdefault(job.threads, []).append(value)
    columns = sorted({t for row in cells.values() for t in row})
    lines = ["medians: lab-* in ms; others in us or ns; then the least and the last ÷ the first"]
    lines.append(f"{'':58}" + "".join(f"{t:>9}" for t in columns))
    for key, row in cells.items():
        middle = {t: statistics.median(values) for t, values in row.items()}
        first, last = min(middle), max(middle)
        ratio = f"{min(middle.values()) / middle[first]:8.3f}{middle[last] / middle[first]:8.3f}"
        name = key[0] + ": " + " ".join(key[1:]).removeprefix("lab-")
        lines.append(f"{name[:58]:58}" + "".join(
            f"{middle[t]:9.4g}" if t in middle else f"{'':9}" for t in columns) + ratio)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=float, default=500, help="seconds in all")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the results")
    parser.add_argument("--processors", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--groups", default="", help="comma-separated; empty: all")
    parser.add_argument("--list", action="store_true", help="print the jobs and end")
    given = parser.parse_args()
    begin = time.monotonic()
    description = tomllib.loads((HERE / "jobs.toml").read_text())
    chosen = jobs(description, given.processors)
    if given.groups:
        chosen = [job for job in chosen if job.group in given.groups.split(",")]
    if given.list:
        for job in chosen:
            print(job.group, *job.command)
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    results: list[dict[str, Any]] = [machine()]

    def left() -> float:
        return given.budget - RESERVE - (time.monotonic() - begin)

    with (given.out / "results.jsonl").open("a") as lines:
        lines.write(json.dumps(results[0]) + "\n")
        for number in range(1000):
            ran = 0
            for job in chosen:
                if job.failed or number >= job.passes or left() <= max([0.5, *job.walls]):
                    continue
                one = run(job, min(left(), job.limit))
                one["pass"] = number
                job.walls.append(one["wall"])
                job.failed = one["status"] != 0
                results.append(one)
                lines.write(json.dumps(one) + "\n")
                lines.flush()
                ran += 1
            if ran == 0:
                break
    text = tables(results, chosen)
    (given.out / "tables.txt").write_text(text + "\n")
    print(text[-9000:])
    for one in results:
        if one.get("status", 0) != 0:
            print(*one["command"], one["status"], one.get("error", "")[:100])
    print(f"{len(results)} results in {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
