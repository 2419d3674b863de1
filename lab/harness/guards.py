# SPDX-License-Identifier: Apache-2.0
"""Guards of the published pages: each returns a message for each claim that the committed results
do not bear. `bench publish` prints the messages, and lab/tests/test_guards.py fails for them.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from .marks import cpus, gap, gaps, marks, uses_one_cpu, version
from .catalogue import RUNTIMES
from .options import FEWEST
from .bench import Cell
from .table import Results, four_digits, standing

RATIO = "÷ peer"
FIGURE = re.compile(r"^[\d,.]*\d")


def tables(page: str) -> Iterator[list[list[str]]]:
    """The Markdown tables of a page, each a list of rows of texts; the first row is the head."""
    rows: list[list[str]] = []
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([text.strip() for text in line.strip().strip("|").split("|")])
        elif rows:
            yield [row for number, row in enumerate(rows) if number != 1]
            rows = []


def _figures(cell: Cell) -> set[str]:
    """The forms in which a page prints the median: seconds, or nanoseconds an operation."""
    seconds = median(cell.seconds())
    each = {f"{seconds / int(cell.size) * 1e9:,.0f}"} if cell.size.isdigit() else set()
    return {four_digits(seconds)} | each


def _of_row(first: str, cells: Sequence[Cell]) -> list[Cell]:
    """The cells with the workload and the size that begin a row of README.md."""
    found = re.match(r"([\w-]+)(?:\((\w+)\)|, ([\d,]+):)", first)
    size = (found[2] or found[3].replace(",", "")) if found else ""
    return [
        cell
        for cell in cells
        if found and cell.good and (cell.workload, cell.size) == (found[1], size)
    ]


def _of_text(head: str, text: str, cells: Sequence[Cell]) -> Cell | None:
    """The cell whose figure the text is, below that head."""
    figure = FIGURE.match(text)
    for cell in cells:
        if cell.kind.ours:
            is_named = head.startswith(f"Sennit, {cell.threads} worker")
        elif cell.runtime == "serial":
            is_named = head == "plain function"
        else:
            is_named = f" {cell.title_of_runtime}" in text
        if is_named and figure and figure[0] in _figures(cell):
            return cell
    return None


def unmarked(name: str, page: str, results: Results) -> Iterator[str]:
    """Figures of README.md or performance.md without the marks that the results give them."""
    for head, *rows in tables(page):
        if RATIO not in head:
            continue
        for first, *texts in rows:
            cells = _of_row(first, results.cells)
            shown = [_of_text(column, text, cells) for column, text in zip(head[1:], texts)]
            for column, cell, text in zip(head[1:], shown, texts):
                if cell is None and FIGURE.match(text) and column != RATIO:
                    yield f"{name}: {first}: '{text}' is no figure of the committed results"
                for mark in marks(cell) if cell else []:
                    if mark not in text:
                        yield f"{name}: {first}: '{text}' lacks its mark '{mark}'"
            ours = [cell for cell in shown if cell and cell.kind.ours]
            peer = results.best_peer(ours[0].title) if ours else None
            if not peer:
                continue
            ratio = texts[head.index(RATIO) - 1]
            wanted = standing(max(ours, key=lambda cell: cell.threads), peer).shown
            if ratio != wanted:
                yield f"{name}: {first}: the ratio '{ratio}' lacks a mark or is another's: {wanted}"


def few_runs(name: str, page: str, results: Results) -> Iterator[str]:
    """Figures of RESULTS.md, of fewer than six runs, without a mark."""
    by_label = {(cell.label, cell.title): cell for cell in results.cells if cell.good}
    for head, *rows in tables(page):
        for label, *texts in rows:
            for title, text in zip(head[1:], texts):
                cell = by_label.get((label, title))
                if cell and len(cell.samples) < FEWEST and f"n={len(cell.samples)}" not in text:
                    yield f"{name}: {label}, {title}: '{text}' has {len(cell.samples)} runs"


def few_runs_of_seeds(name: str, page: str) -> Iterator[str]:
    """Figures of docs/seed-tables.md, of fewer than six runs, without a mark."""
    for head, *rows in tables(page):
        if "here" not in head:
            continue
        for first, _, here, runs, *_ in rows:
            count = re.search(r"(\d+) runs?\b", runs)
            told = "range" in runs or "n=" in runs or (count and count[1] == "1")
            if FIGURE.match(here) and not told and not (count and int(count[1]) >= FEWEST):
                if runs != "–":
                    yield f"{name}: {first}: '{here}' says neither its runs nor its range"


def on_one_cpu(results: Results) -> Iterator[str]:
    """Rows that used one CPU in a parallel workload, and that lab/gaps.toml does not explain."""
    for cell in results.cells:
        if not cell.good or not uses_one_cpu(cell.workload, cell.threads, cell.samples):
            continue
        if gap("one_cpu", cell.runtime, cell.workload) is None:
            yield (
                f"{cell.label}: {cell.title}: the row used {cpus(cell.samples):.2f} CPUs. Mend the "
                "program, declare the workload `serial`, or name the reason in lab/gaps.toml"
            )


def hidden_peers(name: str, page: str, results: Results) -> Iterator[str]:
    """Rows of README.md that show Sennit without the fastest peer at any number of workers."""
    for head, *rows in tables(page):
        if RATIO not in head:
            continue
        for first, *texts in rows:
            cells = _of_row(first, results.cells)
            best = results.best_peer(cells[0].title) if cells else None
            if best and not any(
                f" {best.title_of_runtime}" in text
                and (figure := FIGURE.match(text))
                and figure[0] in _figures(best)
                for text in texts
            ):
                yield f"{name}: {first}: the fastest peer, {best.label}, is not shown"


def hidden_best(name: str, page: str, results: Results) -> Iterator[str]:
    """Workloads of RESULTS.md whose table does not call the fastest peer `best`."""
    best = {
        (cell.label, title): False
        for title in results.titles()
        if (cell := results.best_peer(title))
    }
    for head, *rows in tables(page):
        for label, *texts in rows:
            for number, title in enumerate(head[1:-2]):
                if (label, title) in best and texts[number + 2] == "best":
                    best[label, title] = True
    for (label, title), is_shown in best.items():
        if not is_shown:
            yield f"{name}: {title}: the fastest peer, {label}, is not called best"


def without_version(results: Results, about: dict) -> Iterator[str]:
    """Runtimes with a figure, but without a version, that lab/gaps.toml does not explain."""
    for name in sorted({cell.runtime for cell in results.cells if cell.good}):
        if version(name, about) is None and gap("version", name) is None:
            yield (
                f"{name}: the results hold no version of it. Record it, or name the reason in "
                "lab/gaps.toml"
            )


def stale_gaps(results: Results, about: dict) -> Iterator[str]:
    """Entries of lab/gaps.toml that describe no gap of the results."""
    good = [cell for cell in results.cells if cell.good]
    for one in gaps().get("one_cpu", ()):
        for runtime in one["runtimes"]:
            for workload in one["workloads"]:
                if not any(
                    (cell.runtime, cell.workload) == (runtime, workload)
                    and uses_one_cpu(cell.workload, cell.threads, cell.samples)
                    for cell in good
                ):
                    yield f"lab/gaps.toml: no row of {runtime} {workload} used one CPU"
    for one in gaps().get("version", ()):
        for runtime in one["runtimes"]:
            if version(runtime, about) or not any(cell.runtime == runtime for cell in good):
                yield f"lab/gaps.toml: {runtime} has a version, or no figure"


def of_workloads(name: str, page: str) -> Iterator[str]:
    """Rows of a page of a workload that hide how few runs they have, or that the version of their
    runtime is not known."""
    titles = {one.title: one.name for one in RUNTIMES.values()}
    for head, *rows in tables(page):
        if not {"runtime", "version", "runs", "s"} <= set(head):
            continue
        for texts in rows:
            row = dict(zip(head, texts))
            if int(row["runs"]) < FEWEST and f"n={row['runs']}" not in row["s"]:
                yield f"{name}: {row['runtime']}: '{row['s']}' has {row['runs']} runs, and no mark"
            runtime = titles.get(row["runtime"])
            if row["version"] == "–" and runtime and gap("version", runtime) is None:
                yield f"{name}: {row['runtime']} has no version, and lab/gaps.toml no reason"


def published(root: Path, results: Results, about: dict) -> list[str]:
    """The messages of all guards for the pages below a root; a page that is missing has none."""

    def text(*parts: str) -> str:
        path = root.joinpath(*parts)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    readme, page = text("README.md"), text("docs", "results", "RESULTS.md")
    performance = text("docs", "performance.md")
    return [
        *unmarked("README.md", readme, results),
        *unmarked("docs/performance.md", performance, results),
        *few_runs("docs/results/RESULTS.md", page, results),
        *(
            message
            for path in sorted(root.joinpath("docs", "benchmarks").glob("*.md"))
            for message in of_workloads(
                f"docs/benchmarks/{path.name}", path.read_text(encoding="utf-8")
            )
        ),
        *few_runs_of_seeds("docs/seed-tables.md", text("docs", "seed-tables.md")),
        *on_one_cpu(results),
        *hidden_peers("README.md", readme, results),
        *hidden_peers("docs/performance.md", performance, results),
        *hidden_best("docs/results/RESULTS.md", page, results),
        *without_version(results, about),
        *stale_gaps(results, about),
    ]
