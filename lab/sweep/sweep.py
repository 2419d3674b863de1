#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the programs of a pack on a machine without tools, within a budget of seconds.

    ./run --budget 500 --out FOLDER

jobs.toml says what runs, most valuable first. A pass runs each job once, in a process of its own;
further passes follow while the budget lasts. Each result is a line of results.jsonl as soon as it
is there, so a sweep that is cut off loses one job at most. tables.txt has the medians. Needs Python
3.11 and its standard library.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESERVE = 3.0  # seconds of the budget that no job may use: the table is written in them
LIMIT = 15.0  # seconds of a run, where the group sets none
PASSES = 1000  # the most runs of a job, where the group sets none
NAME_COLUMNS = 58

OK, WRONG, FAILED, TIME_LIMIT = "ok", "wrong answer", "failed", "time limit"
CUT = "cut off by the budget"  # not a failure of the program


@dataclass
class Job:
    """One command. Jobs that differ only in the number of threads have equal keys."""

    group: str
    program: str
    arguments: str  # as jobs.toml has them
    threads: int
    environment: dict[str, str] = field(default_factory=dict)
    passes: int = PASSES
    limit: float = LIMIT
    walls: list[float] = field(default_factory=list)
    failed: bool = False

    def command(self) -> list[str]:
        return [self.program, *(word_for(word, self.threads) for word in self.arguments.split())]

    def key(self) -> tuple[str, str, str]:
        return (self.group, self.program, self.arguments)


def word_for(word: str, threads: int) -> str:
    """An argument for so many threads. `W` stands for them, `2W` for twice as many, `W/4` for a
    quarter, at least one."""
    if word == "W":
        return str(threads)
    if word.endswith("W") and word[:-1].isdigit():
        return str(int(word[:-1]) * threads)
    if word.startswith("W/") and word[2:].isdigit():
        return str(max(1, threads // int(word[2:])))
    return word


def thread_counts(processors: int, wanted: str) -> list[int]:
    """The numbers of threads that a group's `threads` stands for: jobs.toml explains the names."""
    powers = [1 << i for i in range(11) if 1 << i < processors] + [processors]
    counts = {
        "all": powers,
        "parallel": [count for count in powers if count > 1],
        "half": sorted({max(1, processors // 2), processors}),
        "ends": sorted({1, processors}),
        "one": [1],
        "top": [processors],
        "over": [2 * processors, 4 * processors],
    }
    if wanted not in counts:
        raise ValueError(f"jobs.toml: threads must be one of {', '.join(counts)}, not '{wanted}'")
    return counts[wanted]


def jobs(description: dict[str, Any], processors: int, folder: Path) -> list[Job]:
    """The jobs whose programs the folder holds. No command occurs twice in a group."""
    found: dict[tuple[str, ...], Job] = {}
    for group in description["group"]:
        for threads in thread_counts(processors, group["threads"]):
            for program in group["programs"]:
                if not (folder / "bin" / program).is_file():
                    continue
                for arguments in group["arguments"]:
                    job = Job(
                        group["name"],
                        program,
                        arguments,
                        threads,
                        group.get("environment", {}),
                        group.get("passes", PASSES),
                        group.get("limit", LIMIT),
                    )
                    found.setdefault((job.group, *job.command()), job)
    return list(found.values())


def _rows(text: str) -> list[dict[str, Any]]:
    """The lines of JSON that a program has printed, whole ones only."""
    rows = []
    for line in text.splitlines():
        try:
            row = json.loads(line) if line.startswith("{") else None
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _status(code: int, rows: list[dict[str, Any]]) -> str:
    if any("expected" in row and row.get("answer") != row["expected"] for row in rows):
        return WRONG
    return OK if code == 0 and rows else FAILED


def run(job: Job, left: float, folder: Path) -> dict[str, Any]:
    """One run of a job, at most as long as its limit and the rest of the budget allow. A run that
    is too long ends with all processes that it has started."""
    command = job.command()
    result: dict[str, Any] = {
        "group": job.group,
        "program": job.program,
        "arguments": job.arguments,
        "threads": job.threads,
        "command": command,
        "rows": [],
    }
    library_path = os.pathsep.join(
        filter(None, [str(folder / "lib"), os.environ.get("LD_LIBRARY_PATH")])
    )
    begin = time.monotonic()
    try:
        process = subprocess.Popen(
            [str(folder / "bin" / command[0]), *command[1:]],
            env={**os.environ, "LD_LIBRARY_PATH": library_path, **job.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return result | {"status": FAILED, "error": str(error), "wall": 0.0}
    try:
        out, err = process.communicate(timeout=max(0.0, min(left, job.limit)))
        result["rows"] = _rows(out)
        result["status"] = _status(process.returncode, result["rows"])
        if result["status"] == FAILED:
            said = (err.strip().splitlines() or ["printed no result"])[-1]
            result["error"] = f"exit status {process.returncode}: {said[:300]}"
    except subprocess.TimeoutExpired:
        result["status"] = TIME_LIMIT if job.limit <= left else CUT
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # all of them have ended
        process.communicate()
    return result | {"wall": round(time.monotonic() - begin, 3)}


def _caches(system: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> str:
    """The largest cache of the first processor, and the processors that share it."""
    levels = {}
    for place in system.glob("index*"):
        try:
            level = int((place / "level").read_text())
            levels[level] = (place / "shared_cpu_list").read_text().strip()
        except (OSError, ValueError):
            continue  # a virtual machine may hide its caches
    if not levels:
        return ""
    return f"L{max(levels)} of processor 0 shared by {levels[max(levels)]}"


def machine(folder: Path) -> dict[str, Any]:
    """The first line of the results: the machine, and the description of the pack's programs."""

    def text(*command: str) -> str:
        if not shutil.which(command[0]):
            return ""
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=10).stdout
        except subprocess.TimeoutExpired:
            return ""

    about = folder / "about.json"
    return {
        "group": "the machine",
        "kernel": platform.release(),
        "lscpu": text("lscpu"),
        "caches": _caches(),
        "processors": len(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
        "date": datetime.now(timezone.utc).date().isoformat(),
        "built": json.loads(about.read_text()) if about.is_file() else {},
    }


# --- the table ------------------------------------------------------------------------------------


def figure(row: dict[str, Any]) -> float | None:
    """The figure of a row: milliseconds of a program of the lab, else `time` in its own unit."""
    if "seconds" in row:
        return float(row["seconds"]) * 1e3
    return float(row["time"]) if "time" in row else None


def _cell(values: list[float], statuses: set[str]) -> str:
    """The median, unless an answer is wrong; without a figure, why there is none."""
    for status in (WRONG, TIME_LIMIT, FAILED):
        if status in statuses and (status == WRONG or not values):
            return {WRONG: "wrong", TIME_LIMIT: "time", FAILED: "failed"}[status]
    return f"{statistics.median(values):.4g}" if values else ""


def tables(results: Iterable[dict[str, Any]]) -> str:
    """A line for each job with a figure for each number of threads, and the least and the last of
    them ÷ the first."""
    values: dict[tuple[str, str, str], dict[int, list[float]]] = {}
    statuses: dict[tuple[str, str, str], dict[int, set[str]]] = {}
    for one in results:
        found = [value for row in one.get("rows", []) if (value := figure(row)) is not None]
        if "status" not in one or (one["status"] == OK and not found) or one["status"] == CUT:
            continue
        key = (one["group"], one["program"], one["arguments"])
        values.setdefault(key, {}).setdefault(one["threads"], []).extend(found)
        statuses.setdefault(key, {}).setdefault(one["threads"], set()).add(one["status"])
    columns = sorted({threads for row in values.values() for threads in row})
    lines = [
        "medians: lab-* in ms, else in us or ns; then the least and the last ÷ the first",
        f"{'':{NAME_COLUMNS}}" + "".join(f"{threads:>9}" for threads in columns),
    ]
    for key, row in values.items():
        right = [
            statistics.median(row[threads])
            for threads in sorted(row)
            if row[threads] and WRONG not in statuses[key][threads]
        ]
        name = f"{key[0]}: {key[1].removeprefix('lab-')} {key[2]}"
        line = f"{name[:NAME_COLUMNS]:{NAME_COLUMNS}}"
        for threads in columns:
            cell = _cell(row[threads], statuses[key][threads]) if threads in row else ""
            line += f"{cell:>9}"
        if right and right[0] > 0:
            line += f"{min(right) / right[0]:8.3f}{right[-1] / right[0]:8.3f}"
        lines.append(line)
    return "\n".join(lines)


# --- the sweep ------------------------------------------------------------------------------------


def sweep(
    chosen: list[Job],
    left: Callable[[], float],
    keep: Callable[[dict[str, Any]], None],
    place: Path,
) -> None:
    """Runs the jobs, pass by pass. A job begins only if its longest run so far fits into the rest
    of the budget. A job that has failed does not run again."""
    for number in range(PASSES):
        ran = 0
        for job in chosen:
            if job.failed or number >= job.passes or left() <= max([0.5, *job.walls]):
                continue
            one = run(job, left(), place)
            job.walls.append(one["wall"])
            job.failed = one["status"] not in (OK, CUT)
            keep(one | {"pass": number})
            ran += 1
        if ran == 0:
            return


def chosen_jobs(given: argparse.Namespace, folder: Path) -> list[Job]:
    description = tomllib.loads((folder / "jobs.toml").read_text(encoding="utf-8"))
    found = jobs(description, given.processors, folder)
    if not given.groups:
        return found
    names = given.groups.split(",")
    unknown = set(names) - {group["name"] for group in description["group"]}
    if unknown:
        raise ValueError(f"jobs.toml has no group '{min(unknown)}'")
    return [job for job in found if job.group in names]


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./run", description="Measures the programs of the pack.")
    parser.add_argument("--budget", type=float, default=500, help="seconds in all (default: 500)")
    parser.add_argument(
        "--out", type=Path, default=Path("results"), help="folder of the results (default: results)"
    )
    parser.add_argument(
        "--processors",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="the most threads (default: the usable processors)",
    )
    parser.add_argument("--groups", default="", help="groups with commas between (default: all)")
    parser.add_argument("--list", action="store_true", help="print the commands and end")
    return parser


def main(folder: Path = HERE, arguments: list[str] | None = None) -> int:
    given = options().parse_args(arguments)
    begin = time.monotonic()
    try:
        chosen = chosen_jobs(given, folder)
    except (OSError, ValueError) as error:
        print(f"sweep: {error}", file=sys.stderr)
        return 2
    if not chosen:
        print(f"sweep: {folder / 'bin'} has no program of these groups", file=sys.stderr)
        return 2
    if given.list:
        for job in chosen:
            print(f"{job.group}:", *job.command())
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    results: list[dict[str, Any]] = []
    with (given.out / "results.jsonl").open("a", encoding="utf-8") as lines:

        def keep(one: dict[str, Any]) -> None:
            results.append(one)
            lines.write(json.dumps(one) + "\n")
            lines.flush()

        keep(machine(folder))
        end = begin + given.budget - RESERVE
        sweep(chosen, lambda: end - time.monotonic(), keep, folder)
    text = tables(results)
    (given.out / "tables.txt").write_text(text + "\n", encoding="utf-8")
    print(text)
    bad = [one for one in results if one.get("status", OK) not in (OK, CUT)]
    for one in bad:
        print(f"{' '.join(one['command'])}: {one['status']} {one.get('error', '')}".rstrip())
    print(f"{len(results) - 1} runs in {time.monotonic() - begin:.0f} s, {len(bad)} without result")
    return 1 if any(one["status"] == WRONG for one in bad) else 0


if __name__ == "__main__":
    sys.exit(main())
