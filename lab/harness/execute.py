# SPDX-License-Identifier: Apache-2.0
"""Runs one workload once in one runtime and checks the answer: the contract of lab/README.md."""

import json
import math
import signal

from .answers import expected
from .catalogue import WORKLOADS
from .limits import TIME_LIMIT, Outcome, run_limited


class Failed(Exception):
    """The run gave no result; the text says why, for the table."""


def as_text(answer: object) -> str:
    """The answer of a program as text that fits a line of any file."""
    return ascii(answer)[:160]


def _why(outcome: Outcome) -> str:
    detail = (outcome.err.strip().splitlines() or ["without a word"])[-1][:160]
    if outcome.status < 0:
        return f"ended by signal {-outcome.status} ({signal.strsignal(-outcome.status)}): {detail}"
    return f"ended with status {outcome.status}: {detail}"


def _number(found: dict, key: str) -> float:
    value = found[key]
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not math.isfinite(value)
        or value < 0
    ):
        raise ValueError(key)
    return value


def _figures(found: dict, workload: str) -> dict[str, float]:
    """The further figures that the workload's declaration names."""
    return {key: _number(found, key) for key in WORKLOADS[workload].figures}


def _counters(found: dict) -> dict[str, float]:
    """The scheduling counters of the run: empty if the program has none or was not asked."""
    counters = found.get("counters", {})
    if not isinstance(counters, dict):
        raise ValueError("counters")
    return {key: _number(counters, key) for key in counters}


def run_once(
    command: list[str],
    runtime: str,
    workload: str,
    size: str,
    threads: int,
    time_limit: float = TIME_LIMIT,
    memory_limit_kib: int | None = None,
) -> dict:
    """The dictionary of the contract. Raises Failed; a wrong answer is not an exception but `ok`
    false.
    """
    if memory_limit_kib is None:
        memory_limit_kib = WORKLOADS[workload].memory_limit_kib
    try:
        outcome = run_limited(
            [*command, workload, str(size), str(threads)], time_limit, memory_limit_kib
        )
    except OSError as error:
        raise Failed(f"cannot be started: {error.strerror}") from None
    if outcome.limit:
        raise Failed(outcome.limit)
    lines = outcome.out.strip().splitlines()
    if len(lines) != 1:
        raise Failed(
            _why(outcome) if outcome.status != 0 else f"printed {len(lines)} lines instead of one"
        )
    try:
        found = json.loads(lines[0])
        answer = found["answer"]
        numbers = {
            key: _number(found, key) for key in ("seconds", "tasks", "peak_rss_kib", "cpu_seconds")
        }
        figures = _figures(found, workload)
        counters = _counters(found)
        if not 1e-9 <= numbers["seconds"] < 1e6 or not numbers["tasks"]:
            raise ValueError("nothing was done, or in no time")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise Failed(f"printed no result: {lines[0][:160]}") from None
    right = answer == expected(workload, str(size))
    if right and outcome.status != 0:
        raise Failed(_why(outcome))
    return {
        "runtime": runtime,
        "workload": workload,
        "size": int(size) if str(size).isdecimal() else size,
        "threads": threads,
        "answer": answer,
        "ok": right,
        **numbers,
        **({"figures": figures} if figures else {}),
        **({"counters": counters} if counters else {}),
        "voluntary_switches": outcome.voluntary_switches,
        "involuntary_switches": outcome.involuntary_switches,
    }
