# SPDX-License-Identifier: Apache-2.0
"""Invented results in the form of a bench, equal in every call."""

import random

from lab_case import ROOT  # noqa: F401  (finds the harness)
from harness.bench import Cell, Plan, Run
from harness.catalogue import RUNTIMES, WORKLOADS
from harness.document import document

SPEED = {"serial": 1.0, "sennit": 0.8, "rayon": 1.2, "go": 3.0, "onetbb": 2.5}
ABOUT = {
    "cpu": "Example CPU",
    "cores": 4,
    "memory": "16 kB",
    "kernel": "6.1",
    "compiler": "g++",
    "flags": "-O3",
    "allocator": "glibc",
    "commit": "1234",
    "date": "2026-01-01",
    "seed": 1,
}


def example(blocks=6, jobs=(("fib", "39"), ("skynet", "8")), threads=(1, 2, 4), cpu="Example CPU"):
    rng = random.Random(7)
    cells = []
    for workload, size in jobs:
        for name, speed in SPEED.items():
            for count in threads if name != "serial" else (1,):
                cell = Cell(name, workload, size, count)
                cell.samples = [
                    {
                        "seconds": speed / count * rng.uniform(0.98, 1.05),
                        "cpu_seconds": speed,
                        "tasks": 1000,
                        "answer": 1,
                        "peak_rss_kib": 4000 + count,
                        "block": block,
                        "position": len(cells),
                    }
                    for block in range(blocks)
                ]
                cells.append(cell)
    cells[1].samples[-1]["seconds"] *= 20
    failed = Cell("citor", *jobs[0], 2)
    failed.stop("not installed", "not found below citor_ROOT <b>")
    cells.append(failed)
    sentinels = [
        {"sentinel": [0.01, 0.01 if number != 2 else 0.02], "noisy": False}
        for number in range(blocks)
    ]
    plan = Plan(list(SPEED), list(jobs), list(threads), blocks, 1, 5.0)
    return document(Run(cells, sentinels, "complete"), plan, ABOUT | {"cpu": cpu})


def example_of_everything(threads=(1, 2), samples=50_000):
    """Results as large as those of `bench --full` of all workloads: each runtime has each of its
    workloads, and the samples reach the given number in all.
    """
    rng = random.Random(7)
    cells = [
        Cell(runtime.name, workload, WORKLOADS[workload].default, count)
        for runtime in RUNTIMES.values()
        for workload in runtime.offers
        for count in (threads if runtime.name != "serial" else (1,))
    ]
    blocks = -(-samples // len(cells))
    for cell in cells:
        base = rng.uniform(0.1, 10)
        cell.samples = [
            {
                "seconds": base * rng.uniform(0.97, 1.05),
                "cpu_seconds": base * cell.threads * rng.random(),
                "tasks": 204668309,
                "answer": 63245986,
                "peak_rss_kib": rng.randrange(3000, 90000),
                "block": block,
                "position": rng.randrange(len(cells)),
                "voluntary_switches": 14,
                "involuntary_switches": 3,
            }
            for block in range(blocks)
        ]
    sentinels = [
        {"sentinel": [rng.uniform(0.01, 0.0116), rng.uniform(0.01, 0.0116)], "noisy": False}
        for _ in range(blocks)
    ]
    plan = Plan(
        list(RUNTIMES),
        [(name, workload.default) for name, workload in WORKLOADS.items()],
        list(threads),
        blocks,
        1,
        5.0,
    )
    return document(Run(cells, sentinels, "complete"), plan, ABOUT)
