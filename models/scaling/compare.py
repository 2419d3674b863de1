# SPDX-License-Identifier: Apache-2.0
"""Predicted figures beside measured ones: the rows of both comparisons, and whether they agree."""

import json
from dataclasses import dataclass
from pathlib import Path

import machine
import policies
import workloads

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent.parent / "docs" / "results" / "sixteen-cores.json"

COUNTS = ("barriers", "wakes", "parks", "failed_steals")
COUNT_TOLERANCE = 0.30
TIME_TOLERANCE = 0.15
# Counts that differ by less than this for each unit agree, too: events in one of ten units.
SMALL_COUNT = 0.1

SEEDS = (1, 2, 3)


@dataclass
class Row:
    """One row of a comparison. `wrong` names the figures that do not agree."""

    name: str
    workers: int
    measured: dict
    predicted: dict
    wrong: tuple


def count_agrees(measured, predicted):
    difference = abs(predicted - measured)
    return difference <= SMALL_COUNT or difference <= COUNT_TOLERANCE * measured


def time_agrees(measured, predicted):
    return abs(predicted - measured) <= TIME_TOLERANCE * measured


def mean_of(results):
    """The means of runs with several seeds."""
    figures = {"us": sum(one.us for one in results) / len(results)}
    for key in results[0].counts:
        figures[key] = sum(one.counts[key] for one in results) / len(results)
    return figures


def two_processors():
    """The oversubscribed counts: up to 64 workers on two processors, with the present policy."""
    costs = machine.load("two")
    rows = []
    for seen in json.loads((HERE / "measured" / "two.json").read_text(encoding="utf-8"))["rows"]:
        workers = seen["workers"]
        if seen["program"] == "phases":
            units = 40 if workers <= 16 else 20
            runs = [
                workloads.phases(costs, policies.NOW, workers, 1000.0, 100.0, units, seed)
                for seed in SEEDS
            ]
        else:
            runs = [
                workloads.little_parallelism(costs, policies.NOW, workers, 1, 50.0, 1500, seed)
                for seed in SEEDS
            ]
        predicted = mean_of(runs)
        wrong = [key for key in COUNTS if not count_agrees(seen[key], predicted[key])]
        rows.append(Row(seen["program"], workers, seen, predicted, tuple(wrong)))
    return rows


def predict_sweep(costs, row, workers, time_of_one):
    """The result of the model for a row of the sweep; None if the model does not cover it. Times
    are in microseconds."""
    words = row["arguments"].split()
    policy = policies.LAST
    if row["group"] == "phases":
        loop_us, gap_us = float(words[1]), float(words[2])
        units = 20 if loop_us >= 1000 else 40
        return workloads.phases(costs, policy, workers, loop_us, gap_us, units)
    if row["group"] == "little parallelism":
        fibers = workers // 4 if words[1] == "W/4" else int(words[1])
        return workloads.little_parallelism(
            costs, policy, workers, fibers, float(words[2]), 1000 * fibers
        )
    if row["group"] == "long leaves":
        owners = workers // 4 if words[1] == "W/4" else int(words[1])
        depth, leaf_us, child_us = int(words[2]), float(words[3]), float(words[4])
        return workloads.long_leaves(
            costs, policy, workers, owners, depth, leaf_us, child_us, 60 * owners
        )[0]
    if row["group"] == "forks" and words[0] in ("fib", "uts"):
        work_us = 1000.0 * time_of_one
        share = FIB_SHARE if words[0] == "fib" else None
        return workloads.fork_tree(costs, policy, workers, work_us, work_us / 40_000, share)
    return None


FIB_SHARE = 0.381966  # of the work of fib(n) in the fork fib(n - 2)


def covered(row):
    if row["program"].startswith("phases_"):  # a peer
        return False
    return row["group"] in ("phases", "little parallelism", "long leaves") or (
        row["group"] == "forks" and row["arguments"].split()[0] in ("fib", "uts")
    )


def sixteen_processors():
    """The times of the sweep with 16 processors, with the policy of its commit."""
    costs = machine.load("sixteen")
    rows = []
    for row in json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]:
        if not covered(row):
            continue
        in_us = 1000.0 if row["group"] == "forks" else 1.0
        times = dict(zip(row["threads"], row["time"], strict=True))
        for place, workers in enumerate(row["threads"]):
            if workers == 1:
                continue
            run = predict_sweep(costs, row, workers, times.get(1))
            measured = {"us": in_us * times[workers]}
            for key in ("barriers", "wakes", "steals"):
                if key in row:
                    measured[key] = row[key][place] / 1000.0
            wrong = () if time_agrees(measured["us"], run.us) else ("time",)
            name = f"{row['program'].removeprefix('lab-sennit')} {row['arguments']}".strip()
            rows.append(Row(name, workers, measured, {"us": run.us, **run.counts}, wrong))
    return rows


def earlier_states():
    """The figures of loops in decision records, with the policies of earlier states."""
    by_name = {policy.name: policy for policy in policies.ALL}
    rows = []
    for seen in json.loads((HERE / "measured" / "records.json").read_text("utf-8"))["rows"]:
        run = workloads.phases(
            machine.load(seen["machine"]),
            by_name[seen["policy"]],
            seen["workers"],
            float(seen["loop_us"]),
            float(seen["gap_us"]),
            20,
        )
        rows.append(Row(seen["policy"], seen["workers"], seen, {"us": run.us, **run.counts}, ()))
    return rows


@dataclass
class Prediction:
    workload: str
    workers: int
    policy: str
    figures: dict


PREDICTED_WORKERS = (64, 256, 1024)
LOOPS = {64: 6, 256: 3, 1024: 2}


def predictions():
    """Each policy with as many processors as workers, up to sizes that no machine at hand has."""
    rows = []
    for workers in PREDICTED_WORKERS:
        costs = machine.load("sixteen", processors=workers)
        for policy in policies.ALL:
            for name, run in (
                (
                    "phases 1000 100",
                    lambda p: workloads.phases(costs, p, workers, 1000.0, 100.0, LOOPS[workers]),
                ),
                (
                    "little_parallelism 1 50",
                    lambda p: workloads.little_parallelism(costs, p, workers, 1, 50.0, 400),
                ),
                (
                    "fib",
                    lambda p: workloads.fork_tree(
                        costs, p, workers, FIB_WORK_US, FIB_WORK_US / 40_000, FIB_SHARE
                    ),
                ),
            ):
                run_of = run(policy)
                rows.append(
                    Prediction(name, workers, policy.name, {"us": run_of.us, **run_of.counts})
                )
    return rows


FIB_WORK_US = 420_800.0  # fib(39) with one worker on the machine with 16 processors
