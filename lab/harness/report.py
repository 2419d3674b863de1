# SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md, RESULTS.csv, RESULTS.json, RESULTS.html and SEED-TABLES.md."""

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from . import figures, seed_tables
from .bench import Cell, Plan, Run
from .build import ROOT
from .document import document, save, write_whole
from .footnotes import footnote
from .marks import cpus, gap, uses_one_cpu, version
from .page import write_page
from .say import warn
from .stats import outliers
from .table import EXPLANATION, SPREAD, Results, behind, four_digits, spread
from .templates import fill

RESULTS = ROOT / "build" / "results"
COLUMNS = (
    "runtime",
    "workload",
    "size",
    "threads",
    "status",
    "samples",
    "median_seconds",
    "low_seconds",
    "high_seconds",
    "min_seconds",
    "max_seconds",
    "outliers",
    "to_serial",
    "to_best_peer",
    "to_best_peer_low",
    "to_best_peer_high",
    "median_cpu_seconds",
    "tasks",
    "peak_rss_kib",
    "voluntary_switches",
    "involuntary_switches",
    "figures",
    "stopped",
    "reason",
)
UNKNOWN = "version unknown: "
SIDE_BY_SIDE = 4  # workloads of a table in RESULTS.md
EACH = (
    "runtime",
    "workload",
    "threads",
    "samples",
    "median s",
    SPREAD,
    "÷ peer, 95 % interval",
    "CPU s",
    "CPUs",
    "peak MiB",
    "outliers",
)
BEHIND = ("workload", "row of Sennit", "÷ peer", "peer")


def _behind(results: Results) -> list[tuple[str, ...]]:
    return [(one.ours.title, one.ours.label, one.shown, one.peer.label) for one in behind(results)]


def _versions(results: Results, about: dict) -> list[str]:
    """A line for each runtime with a figure: its version, or why that is unknown."""
    names = sorted({cell.runtime for cell in results.cells if cell.good})
    return [
        f"{name}: {version(name, about) or UNKNOWN + (gap('version', name) or 'not recorded')}"
        for name in names
    ]


def _on_one_cpu(results: Results) -> list[str]:
    """A line for each reason why rows used one CPU in a parallel workload."""
    rows: dict[str, list[str]] = {}
    for cell in results.cells:
        if cell.good and uses_one_cpu(cell.workload, cell.threads, cell.samples):
            reason = gap("one_cpu", cell.runtime, cell.workload) or "no reason is known"
            rows.setdefault(reason, []).append(
                f"{cell.label}, {cell.title} ({cpus(cell.samples):.2f} CPUs)"
            )
    return [f"{'; '.join(found)}: {reason}." for reason, found in rows.items()]


def _each(results: Results) -> Iterator[tuple[str, ...]]:
    """A line for each cell that has a result."""
    for cell in results.cells:
        shown = results.figures(cell)
        if not shown:
            continue
        to_peer = (
            "{:.3f} to {:.3f}".format(*shown.interval_to_peer) if shown.interval_to_peer else ""
        )
        yield (
            cell.title_of_runtime,
            cell.title,
            str(cell.threads),
            str(len(cell.samples)),
            four_digits(shown.seconds),
            spread(cell.seconds(), shown.interval) or "–",
            to_peer,
            four_digits(_cpu(cell)),
            f"{cpus(cell.samples):.2f}",
            f"{_peak(cell) / 1024:.1f}",
            str(sum(outliers(cell.seconds())) or ""),
        )


def _cpu(cell: Cell) -> float:
    return median(sample["cpu_seconds"] for sample in cell.samples)


def _peak(cell: Cell) -> int:
    return max(sample["peak_rss_kib"] for sample in cell.samples)


def _head_and_rows(results: Results, titles: list[str]) -> tuple[list[str], list[list[str]]]:
    head, *rows = results.rows(titles)
    return head, rows


def _note(results: Results, titles: list[str]) -> str:
    shown = (cell for cell in results.cells if cell.good and cell.title in titles)
    return footnote(((cell.runtime, cell.workload, cell.threads) for cell in shown), "../")


def markdown(results: Results, about: dict, blocks: Sequence[dict] = ()) -> str:
    titles = results.titles()
    groups = [titles[first : first + SIDE_BY_SIDE] for first in range(0, len(titles), SIDE_BY_SIDE)]
    return fill(
        "RESULTS.md",
        about={key: value for key, value in about.items() if not key.startswith("version of ")},
        cores=about.get("cores"),
        behind_head=BEHIND,
        behind=_behind(results),
        versions=_versions(results, about),
        one_cpu=_on_one_cpu(results),
        blocks=blocks,
        explanation=EXPLANATION,
        each_head=EACH,
        each=list(_each(results)),
        noisy=[number for number, block in enumerate(blocks, 1) if block["noisy"]],
        figures=[(title, rows[0], rows[1:]) for title, rows in figures.tables(results.cells)],
        reasons=results.reasons(),
        side_by_side=[(*_head_and_rows(results, group), _note(results, group)) for group in groups],
    )


def _csv_row(results: Results, cell: Cell) -> dict:
    row = {
        "runtime": cell.runtime,
        "workload": cell.workload,
        "size": cell.size,
        "threads": cell.threads,
        "status": cell.status,
        "samples": len(cell.samples),
        "stopped": cell.stopped,
        "reason": cell.reason,
    }
    shown = results.figures(cell)
    if shown:
        row |= {
            "median_seconds": shown.seconds,
            "min_seconds": min(cell.seconds()),
            "max_seconds": max(cell.seconds()),
            "to_serial": shown.to_serial,
            "to_best_peer": shown.to_peer,
            "outliers": sum(outliers(cell.seconds())),
            "median_cpu_seconds": _cpu(cell),
            "tasks": cell.samples[0]["tasks"],
            "peak_rss_kib": _peak(cell),
        }
        for key in ("voluntary_switches", "involuntary_switches"):
            counts = [sample[key] for sample in cell.samples if sample.get(key) is not None]
            row[key] = median(counts) if counts else None
        row["figures"] = " ".join(
            f"{name}={value:.6g}" for name, value in figures.medians(cell).items()
        )
        if shown.interval:
            row["low_seconds"], row["high_seconds"] = shown.interval
        if shown.interval_to_peer:
            row["to_best_peer_low"], row["to_best_peer_high"] = shown.interval_to_peer
    return row


def write_json(run: Run, plan: Plan, about: dict, folder: Path) -> dict:
    """Writes the file that `bench --resume` reads; returns the results."""
    results = document(run, plan, about)
    save(results, folder / "RESULTS.json")
    return results


def checkpoint(
    run: Run, plan: Plan, about: dict, folder: Path, versions: Mapping[str, str]
) -> Callable[[], None]:
    """Returns a function that saves the results so far. It reports a full disk once, since the disk
    may have room again at the end."""
    told: list[OSError] = []

    def write() -> None:
        about.update({f"version of {name}": version for name, version in versions.items()})
        try:
            write_json(run, plan, about, folder)
            lead_latest(folder)
        except OSError as error:
            if not told:
                warn(f"sennit: {error}; going on")
            told.append(error)

    return write


def write_csv(results: Results, path: Path) -> None:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(_csv_row(results, cell) for cell in results.cells)
    write_whole(text.getvalue(), path)


def lead_latest(folder: Path) -> None:
    """`latest` beside the folder leads to it when it lies below build/results; there is always
    one, the former or the new.
    """
    if folder.parent == RESULTS:
        new = RESULTS / f"latest.{os.getpid()}"
        new.unlink(missing_ok=True)
        new.symlink_to(folder.name)
        os.replace(new, RESULTS / "latest")


def write_files(run: Run, plan: Plan, about: dict, folder: Path) -> None:
    """The folder exists."""
    results = Results(run.cells)
    written = write_json(run, plan, about, folder)
    lead_latest(folder)
    write_whole(markdown(results, about, run.blocks), folder / "RESULTS.md")
    write_csv(results, folder / "RESULTS.csv")
    write_whole(seed_tables.markdown([written]), folder / "SEED-TABLES.md")
    write_page([written], folder / "RESULTS.html")
