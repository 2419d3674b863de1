# SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md, RESULTS.csv and RESULTS.json."""

import csv
import dataclasses
import json
from statistics import median

from .build import ROOT
from .table import EXPLANATION, Results

RESULTS = ROOT / "build" / "results"
COLUMNS = ("runtime", "workload", "size", "threads", "status", "samples", "median_seconds", "min_seconds", "max_seconds",
           "to_serial", "to_best_peer", "median_cpu_seconds", "tasks", "peak_rss_kib", "reason")


def markdown(results, about):
    def line(row):
        return "| " + " | ".join(row) + " |\n"

    head, *rows = results.rows(results.titles())
    text = "# Results\n\n"
    text += "".join(f"* {key}: {value}\n" for key, value in about.items() if value is not None)
    text += "\n" + line(head) + "|---|" + "--:|" * (len(head) - 1) + "\n" + "".join(map(line, rows))
    text += f"\n{EXPLANATION}\n"
    reasons = results.reasons()
    return text + ("\nNo result:\n\n" + "".join(f"* {reason}\n" for reason in reasons) if reasons else "")


def _csv_row(results, cell):
    row = {"runtime": cell.runtime, "workload": cell.workload, "size": cell.size, "threads": cell.threads,
           "status": cell.status, "samples": len(cell.samples), "reason": cell.reason}
    figures = results.figures(cell)
    if figures:
        row |= {"median_seconds": figures.seconds, "min_seconds": min(cell.seconds()), "max_seconds": max(cell.seconds()),
                "to_serial": figures.to_serial, "to_best_peer": figures.to_peer,
                "median_cpu_seconds": median(sample["cpu_seconds"] for sample in cell.samples),
                "tasks": cell.samples[0]["tasks"], "peak_rss_kib": max(sample["peak_rss_kib"] for sample in cell.samples)}
    return row


def write_files(cells, about, folder):
    """The folder exists. `latest` beside it leads to it when it lies below build/results."""
    results = Results(cells)
    (folder / "RESULTS.md").write_text(markdown(results, about), encoding="utf-8")
    with open(folder / "RESULTS.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(_csv_row(results, cell) for cell in cells)
    with open(folder / "RESULTS.json", "w", encoding="utf-8") as file:
        json.dump({"machine": about, "cells": [dataclasses.asdict(cell) for cell in cells]}, file, indent=1)
    if folder.parent == RESULTS:
        latest = RESULTS / "latest"
        latest.unlink(missing_ok=True)
        latest.symlink_to(folder.name)
