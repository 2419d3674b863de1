# SPDX-License-Identifier: Apache-2.0
"""Tables and files of results."""

import csv
import io
import json
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from .build import ROOT
from .catalogue import RUNTIMES
from .stats import no_difference


def _first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def machine(compiler):
    cpu = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    return {
        "cpu": cpu, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown"),
        "compiler": _first_line([compiler, "--version"]), "commit": _first_line(["git", "rev-parse", "--short", "HEAD"]),
        "load_before": os.getloadavg()[0], "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _label(cell):
    return RUNTIMES[cell.runtime].title + (f", {cell.threads} worker" + "s" * (cell.threads != 1)
                                           if cell.runtime != "serial" else "")


def _cell_text(cell, serial, best_peer):
    if not cell.samples or cell.reason:
        return "—"
    seconds = median(cell.seconds())
    text = f"{seconds:.4f} s"
    if serial:
        text += f" {seconds / median(serial.seconds()):.2f}"
    if best_peer and best_peer is not cell:
        same = " =" if no_difference(cell.seconds(), best_peer.seconds()) else ""
        text += f" {seconds / median(best_peer.seconds()):.2f}{same}"
    elif best_peer:
        text += " best"
    return text


def table(cells):
    """Rows of text: header, then a runtime with a thread count each."""
    workloads = list(dict.fromkeys(cell.workload for cell in cells))
    titles = {cell.workload: f"{cell.workload}({cell.size})" for cell in cells}
    most = max(cell.threads for cell in cells)
    rows = [["runtime"] + [titles[name] for name in workloads]]
    good = [cell for cell in cells if cell.samples and not cell.reason]
    serial = {cell.workload: cell for cell in good if cell.runtime == "serial"}
    best = {}
    for cell in good:
        if cell.runtime in ("serial", "sennit") or cell.threads != most:
            continue
        now = best.get(cell.workload)
        if now is None or median(cell.seconds()) < median(now.seconds()):
            best[cell.workload] = cell
    by_label = {}
    for cell in cells:
        by_label.setdefault((_label(cell), cell.runtime, cell.threads), {})[cell.workload] = cell

    def order(item):
        done = [median(cell.seconds()) for cell in item[1].values() if cell.samples and not cell.reason]
        return (-len(done), sum(done))

    for (label, runtime, threads), row in sorted(by_label.items(), key=order):
        if all(cell.reason and cell.reason.startswith("not installed") for cell in row.values()):
            continue
        rows.append([label] + [
            _cell_text(row[name], serial.get(name), best.get(name) if threads == most else None) if name in row else ""
            for name in workloads])
    return rows


def reasons(cells):
    lines = []
    for cell in cells:
        if cell.reason:
            what = "" if cell.reason.startswith("not installed") else f"{cell.workload}({cell.size}): "
            line = f"{_label(cell).split(',')[0]}: {what}{cell.reason}"
            if line not in lines:
                lines.append(line)
    return lines


EXPLANATION = ("Each cell: median seconds, ratio to the plain serial function, ratio to the best peer at this number of "
               "workers (`=`: no difference shown, the 95 % bootstrap interval holds 1).")


def markdown(cells, about):
    rows = table(cells)
    out = io.StringIO()
    out.write("# Results\n\n")
    out.write(f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, {about['compiler']}, "
              f"commit {about['commit']}, {about['date']}, seed {about['seed']}\n\n")
    out.write("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]) + "\n")
    for row in rows[1:]:
        out.write("| " + " | ".join(row) + " |\n")
    out.write(f"\n{EXPLANATION}\n")
    for line in reasons(cells):
        out.write(f"* {line}\n")
    return out.getvalue()


def plain(cells):
    rows = table(cells)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", EXPLANATION, *reasons(cells)])


def write_files(cells, about, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "RESULTS.md").write_text(markdown(cells, about))
    with open(folder / "RESULTS.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["runtime", "workload", "size", "threads", "samples", "median_seconds", "min_seconds",
                         "max_seconds", "median_cpu_seconds", "peak_rss_kib", "reason"])
        for cell in cells:
            numbers = [""] * 5
            if cell.samples:
                seconds = cell.seconds()
                numbers = [median(seconds), min(seconds), max(seconds),
                           median(s["cpu_seconds"] for s in cell.samples), max(s["peak_rss_kib"] for s in cell.samples)]
            writer.writerow([cell.runtime, cell.workload, cell.size, cell.threads, len(cell.samples), *numbers,
                             cell.reason or ""])
    with open(folder / "RESULTS.json", "w") as file:
        json.dump({"machine": about, "cells": [vars(cell) for cell in cells]}, file, indent=1)
    latest = folder.parent / "latest"
    if folder.parent == ROOT / "build" / "results":
        latest.unlink(missing_ok=True)
        latest.symlink_to(folder.name)


