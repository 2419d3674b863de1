# SPDX-License-Identifier: Apache-2.0
"""RESULTS.json: written after results.schema.json, and read back with one clear line for each
mistake."""

import functools
import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, NoReturn

import jsonschema

from .bench import Cell, Plan, Run
from .catalogue import WORKLOADS, UsageError, check_offered, runtime_named, workload_named
from .sentinel import mark_noisy
from .stats import median_interval, outliers

FORMAT, VERSION = "sennit-lab-results", 1
SCHEMA = Path(__file__).with_name("results.schema.json")
SAMPLE = (
    "seconds",
    "cpu_seconds",
    "peak_rss_kib",
    "tasks",
    "answer",
    "voluntary_switches",
    "involuntary_switches",
)


def _samples(cell: Cell) -> list[dict]:
    marks = outliers(cell.seconds())
    return [
        {key: sample.get(key) for key in SAMPLE}
        | {
            "block": sample.get("block", number),
            "position": sample.get("position", 0),
            "outlier": mark,
        }
        | {key: sample[key] for key in ("figures", "counters") if sample.get(key)}
        for number, (sample, mark) in enumerate(zip(cell.samples, marks))
    ]


def _cell(cell: Cell) -> dict:
    seconds = cell.seconds() if cell.good else []
    return {
        "runtime": cell.runtime,
        "title": cell.title_of_runtime,
        "language": cell.kind.language,
        "ours": cell.kind.ours,
        "workload": cell.workload,
        "size": cell.size,
        "threads": cell.threads,
        "status": cell.status,
        "reason": cell.reason,
        "stopped": cell.stopped,
        "median": median(seconds) if seconds else None,
        "interval": median_interval(seconds),
        "samples": _samples(cell),
    }


def document(run: Run, plan: Plan, about: dict) -> dict:
    """The dictionary of the file. Marks noisy blocks and outliers."""
    mark_noisy(run.blocks)
    return {
        "format": FORMAT,
        "version": VERSION,
        "state": run.state,
        "machine": about,
        "plan": asdict(plan),
        "blocks": run.blocks,
        "cells": [_cell(cell) for cell in run.cells],
    }


def save(results: dict, path: Path) -> None:
    """All of it or nothing. Raises OSError."""
    write_whole(json.dumps(results, separators=(",", ":"), ensure_ascii=False), path)


def write_whole(text: str, path: Path) -> None:
    """All of it or nothing: a full disk, a kill or a power cut leaves the former file. Raises
    OSError.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")  # a device or a pipe; nothing can take its place
        return
    new = path.with_name(path.name + ".new")
    try:
        with open(new, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _is_finite(_: object, value: object) -> bool:
    """Whether it is a number to compute with: 1e999 is none, nor is a whole number of a thousand
    digits.
    """
    try:
        return (
            isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        )
    except OverflowError:
        return False


@functools.cache
def validator() -> Any:
    """Checks results against results.schema.json. Numbers must be finite, and whole numbers have
    no fraction.
    """
    standard = jsonschema.Draft202012Validator
    types = standard.TYPE_CHECKER.redefine_many(
        {
            "number": _is_finite,
            "integer": lambda checker, value: isinstance(value, int) and _is_finite(checker, value),
        }
    )
    return jsonschema.validators.extend(standard, type_checker=types)(
        json.loads(SCHEMA.read_text(encoding="utf-8"))
    )


def problem(results: object) -> str | None:
    """The first mistake in the results and its place, or None if they satisfy the schema."""
    error = next(validator().iter_errors(results), None)
    return (
        error
        and f"{error.json_path.removeprefix('$.').replace('$', 'the file')}: {error.message[:160]}"
    )


def load(path: str | Path) -> dict:
    """The dictionary of a results file, or of the one in a folder. Raises UsageError."""
    path = Path(path)
    path = path / "RESULTS.json" if path.is_dir() else path
    try:
        results = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is no results file: it is not JSON") from None
    if not isinstance(results, dict) or results.get("format") != FORMAT:
        raise UsageError(
            f"{path} is no results file of this lab, or one from before its files had a version"
        )
    if results.get("version") != VERSION:
        raise UsageError(
            f"{path} has version {results.get('version')} of the results; "
            f"this lab reads version {VERSION}"
        )
    if wrong := problem(results):
        raise UsageError(f"{path} is broken: {wrong}")
    for number, cell in enumerate(results["cells"]):
        seconds, tasks = (
            [sample[key] for sample in cell["samples"]] for key in ("seconds", "tasks")
        )
        if cell["median"] is not None and not (
            seconds and min(seconds) > 0 and max(seconds) < 1e9 and min(tasks) > 0
        ):
            raise UsageError(
                f"{path} is broken: cells[{number}] has a median, and not the samples for it"
            )
    for cell in results["cells"]:  # older files have intervals of fewer samples than that takes
        cell["interval"] = median_interval(
            [sample["seconds"] for sample in cell["samples"]] if cell["median"] is not None else []
        )
    return results


def check_known(results: dict) -> None:
    """Raises UsageError where something is left to be run that this version of the lab does not
    have.
    """
    for cell in results["cells"]:
        if cell["status"] == "ok":
            check_offered(
                runtime_named(cell["runtime"]).name, workload_named(cell["workload"]).name
            )
            WORKLOADS[cell["workload"]].check(cell["size"])


def restore(results: dict) -> tuple[Run, Plan, dict]:
    """(run, plan, about) of a document, to go on with them."""
    plan = Plan(**results["plan"] | {"jobs": [tuple(job) for job in results["plan"]["jobs"]]})
    kept = {"runtime", "workload", "size", "threads", "samples", "reason", "status", "stopped"}
    cells = [
        Cell(**{key: value for key, value in cell.items() if key in kept})
        for cell in results["cells"]
    ]
    return Run(cells, results["blocks"], results["state"]), plan, results["machine"]
