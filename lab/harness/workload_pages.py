# SPDX-License-Identifier: Apache-2.0
"""`bench pages`: writes docs/benchmarks/WORKLOAD.md for each workload, their index, and the
interactive page index.html.

A page is made from the tables of lab/README.md, from lab/pages.toml, from marked excerpts of the
ports, and from the committed results, docs/results/*.json. lab/tests/test_workload_pages.py fails
if a committed page differs from the page that these sources give.
"""

import re
import tomllib
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .bench import Cell
from .catalogue import FAMILIES, FLOORS, RUNTIMES, WORKLOADS, UsageError
from .document import FORMAT, load, restore, write_whole
from .excerpts import Excerpt, excerpt
from .figures import compared, main_figure, medians, middle
from .figures import text as figure_text
from .guards import tables
from .marks import marked, version
from .page import by_commit, page
from .stats import Comparison, median_interval
from .table import SAME_MARK, compare_cells, four_digits, spread
from .templates import fill

INDEX = "README.md"
INTERACTIVE = "index.html"
BY_HAND = {INDEX, "faq.md"}  # not pages of workloads
NOTE = "<!-- Written by `./sennit bench pages`, which names its sources in its help. -->"
KEYS = {"about", "measures", "leaves_out", "code", "like"}
QUOTED = re.compile(r"[\"']([\w-]+)[\"']")
SOURCES = (".cpp", ".hpp", ".go", ".rs", ".java", ".erl", ".hs", ".mjs", ".cs", ".cfa", ".py")


# --- the descriptions -----------------------------------------------------------------------------


def _expanded(cell: str) -> list[str]:
    """The workloads of a cell such as "`monitor-1`, `-2`, `-4`"."""
    names = re.findall(r"`([\w-]+)`", cell)
    found = [name for name in names if name in WORKLOADS]
    for short in (name for name in names if name.startswith("-")):
        words = found[0].split("-") if found else []
        tries = ("-".join(words[:end]) + short for end in range(len(words), 0, -1))
        found += [name for name in tries if name in WORKLOADS][:1]
    return found


def described(readme: str) -> dict[str, list[tuple[str, str]]]:
    """workload -> (head of a column, text), of the tables of lab/README.md."""
    found: dict[str, list[tuple[str, str]]] = {}
    for head, *rows in tables(readme):
        if head[0] != "workload":
            continue
        for first, *texts in rows:
            for name in _expanded(first):
                found.setdefault(name, list(zip(head[1:], texts)))
    return found


def declared(text: str) -> dict[str, dict]:
    """The tables of lab/pages.toml. Raises UsageError for a mistake."""
    try:
        pages = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"lab/pages.toml: {error}") from None
    for name, page in pages.items():
        where = f"lab/pages.toml: {name}"
        if name not in WORKLOADS:
            raise UsageError(f"{where}: no workload is called '{name}'")
        if unknown := set(page) - KEYS:
            raise UsageError(f"{where} has the unknown key '{min(unknown)}'")
        if "like" in page and page["like"] not in pages:
            raise UsageError(f"{where}: '{page['like']}' has no page in this file")
    return {
        name: pages[page["like"]] | {key: page[key] for key in page if key != "like"}
        if "like" in page
        else page
        for name, page in pages.items()
    }


def sources(lab: Path) -> dict[str, list[str]]:
    """workload -> the sources of ports that name it, below lab/."""
    found: dict[str, list[str]] = {name: [] for name in WORKLOADS}
    for folder in ("runtimes", "workloads"):
        for path in sorted((lab / folder).rglob("*")):
            if path.suffix in SOURCES:
                texts = set(QUOTED.findall(path.read_text(encoding="utf-8")))
                for name in texts & set(WORKLOADS):
                    found[name].append(str(path.relative_to(lab)))
    return found


# --- the results ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResultSet:
    """A committed results file."""

    path: str  # below docs/
    cells: Sequence[Cell]
    about: dict
    document: dict

    @property
    def circumstances(self) -> str:
        about = self.about
        date = str(about.get("date", "")).partition("T")[0]
        return (
            f"Commit {about['commit']} of {date}, on {about['cores']} CPUs: {about['cpu']}, "
            f"Linux {about['kernel']}, {about['compiler']}."
        )


def result_sets(docs: Path) -> list[ResultSet]:
    """The newest first."""
    found = []
    for path in sorted((docs / "results").glob("*.json")):
        if f'"format":"{FORMAT}"' not in path.read_text(encoding="utf-8")[:200]:
            continue
        document = load(path)
        run, _, about = restore(document)
        found.append(ResultSet(str(path.relative_to(docs)), run.cells, about, document))
    return sorted(found, key=lambda one: str(one.about.get("date", "")), reverse=True)


def _short(text: str | None) -> str:
    """`2021.8.0` of `2021.8.0, built by …`."""
    return text.partition(",")[0].partition(" (")[0] if text else "–"


def rows_of(cells: Sequence[Cell], about: dict) -> list[list[str]]:
    """The rows of a table, the best one first, below their head."""
    figure = main_figure(cells[0].workload)
    more = WORKLOADS[cells[0].workload].figures
    head = ["runtime", "version", "workers", "runs", "s", "95 % interval, or range"]
    head += [*more, "ns a task"] if not more else [*more]
    rows = [[*head, "CPU s", "MiB"]]
    for cell in sorted(cells, key=middle):
        seconds = median(cell.seconds())
        if figure is None:
            interval = spread(cell.seconds(), median_interval(cell.seconds()))
            further = [f"{seconds / median(one['tasks'] for one in cell.samples) * 1e9:.4g}"]
        else:
            values = list(compared(cell).values())
            interval = spread(values, median_interval(values)) if values else ""
            middles = medians(cell)
            further = [figure_text(middles[one]) if one in middles else "–" for one in more]
        rows.append(
            [
                cell.title_of_runtime,
                _short(version(cell.runtime, about)),
                str(cell.threads),
                str(len(cell.samples)),
                marked(four_digits(seconds), cell),
                interval,
                *further,
                f"{median(one['cpu_seconds'] for one in cell.samples):.4g}",
                f"{max(one['peak_rss_kib'] for one in cell.samples) / 1024:,.0f}",
            ]
        )
    return rows


@dataclass(frozen=True)
class Verdict:
    ours: Cell
    peer: Cell
    found: Comparison

    @property
    def shown(self) -> str:
        return f"{self.found.ratio:.2f}{SAME_MARK[self.found.same]}"


def verdict(cells: Sequence[Cell]) -> Verdict | None:
    """The best row of Sennit against the best row of a peer; None if a side has no row."""
    ours = [cell for cell in cells if cell.kind.ours]
    peers = [cell for cell in cells if not cell.kind.ours and cell.runtime not in FLOORS]
    if not ours or not peers:
        return None
    best = min(ours, key=middle)
    peer = min(peers, key=middle)
    found = compare_cells(best, peer)
    return Verdict(best, peer, found) if found else None


def _sentence(found: Verdict, figure: str | None) -> str:
    what = f"`{figure}`" if figure else "time"
    certainty = {
        True: "the samples show no difference",
        False: "the 95 % interval of the ratio does not hold 1",
        None: "too few samples for a verdict, which takes 6 of both",
    }[found.found.same]
    return (
        f"{found.ours.label}: {found.found.ratio:.2f} times the {what} of the best peer, "
        f"{found.peer.label} "
        f"({certainty})."
    )


@dataclass(frozen=True)
class Part:
    """A table of one results file: one size of the workload."""

    set: ResultSet
    cells: Sequence[Cell]

    @property
    def heading(self) -> str:
        size = self.cells[0].size
        size = f"{int(size):,}" if size.isdigit() else size
        return (
            f"Size {size}. {self.set.circumstances} All samples: "
            f"[{self.set.path}](../{self.set.path})."
        )

    @property
    def rows(self) -> list[list[str]]:
        return rows_of(self.cells, self.set.about)

    @property
    def verdict(self) -> str:
        found = verdict(self.cells)
        return _sentence(found, main_figure(self.cells[0].workload)) if found else ""


def parts(workload: str, sets: Sequence[ResultSet]) -> Iterator[Part]:
    """The newest results of each size, the largest size first."""
    seen: dict[str, Part] = {}
    for one in sets:
        cells = [cell for cell in one.cells if cell.workload == workload and cell.good]
        for size in dict.fromkeys(cell.size for cell in cells):
            seen.setdefault(size, Part(one, [cell for cell in cells if cell.size == size]))
    yield from (seen[size] for size in sorted(seen, key=lambda one: (len(one), one), reverse=True))


def reasons(workload: str, sets: Sequence[ResultSet]) -> list[str]:
    """A line for each row that has no figure in the newest file with the workload."""
    for one in sets:
        cells = [cell for cell in one.cells if cell.workload == workload]
        if any(cell.good for cell in cells):
            lines = (f"{cell.label}, {cell.title}: {cell.reason}" for cell in cells if cell.reason)
            return list(dict.fromkeys(lines))
    return []


# --- the pages ------------------------------------------------------------------------------------


def _about_size(workload: str) -> str:
    kind = WORKLOADS[workload]
    text = f"The default size is {kind.default}."
    if kind.serial:
        text += " By construction a second worker has nothing to do, so more workers show a cost."
    if figure := main_figure(workload):
        text += f" The rows are compared by `{figure}`, not by their time."
    return text


class Pages:
    """All pages of a repository."""

    def __init__(self, root: Path) -> None:
        self.lab = root / "lab"
        self.docs = root / "docs"
        self.described = described((self.lab / "README.md").read_text(encoding="utf-8"))
        self.declared = declared((self.lab / "pages.toml").read_text(encoding="utf-8"))
        self.sets = result_sets(self.docs)
        self.sources = sources(self.lab)

    def code(self, workload: str) -> list[tuple[str, Excerpt]]:
        """(title, excerpt) of each part of the code that the page shows."""
        wanted = self.declared.get(workload, {}).get("code", [])
        return [(title, excerpt(path, name, self.lab)) for title, path, name in wanted]

    def page(self, workload: str) -> str:
        about = self.declared.get(workload, {})
        code = self.code(workload)
        return fill(
            "workload.md",
            note=NOTE,
            name=workload,
            about=about.get("about", ""),
            measures=about.get("measures", ""),
            leaves_out=about.get("leaves_out", ""),
            columns=[
                (head, text)
                for head, text in self.described.get(workload, ())
                if not head.startswith("default") and text
            ],
            size_of=_about_size(workload),
            runtimes=[one.title for one in RUNTIMES.values() if workload in one.offers],
            parts=list(parts(workload, self.sets)),
            reasons=reasons(workload, self.sets),
            code=code,
            sources=self.sources[workload],
        )

    def index(self) -> str:
        families = []
        for family, workloads in FAMILIES.items():
            rows = []
            for name in workloads:
                newest = next(parts(name, self.sets), None)
                found = verdict(newest.cells) if newest else None
                best = min(newest.cells, key=middle) if newest else None
                shows = dict(self.described.get(name, ()))
                text = shows.get("it shows") or next(iter(shows.values()), "")
                rows.append(
                    [
                        f"[{name}]({name}.md)",
                        text,
                        best.label if best else "–",
                        found.shown if found else "–",
                    ]
                )
            families.append((family, rows))
        return fill(
            "workloads.md",
            note=NOTE,
            head=["workload", "it shows", "best row", "Sennit ÷ best peer"],
            families=families,
            sets=self.sets,
        )

    def all(self) -> dict[str, str]:
        """name of the file -> text"""
        return {f"{name}.md": self.page(name) for name in WORKLOADS} | {
            INDEX: self.index(),
            INTERACTIVE: page(
                by_commit([one.document for one in self.sets]), None, with_samples=False
            ),
        }


def stale(root: Path) -> list[str]:
    """The files below docs/benchmarks that differ from the pages that the sources give."""
    folder = root / "docs" / "benchmarks"
    wanted = Pages(root).all()
    found = [path for path in folder.glob("*") if path.suffix in (".md", ".html")]
    there = {path.name: path.read_text(encoding="utf-8") for path in found}
    names = {name for name in wanted if there.get(name) != wanted[name]}
    return sorted(names | (set(there) - set(wanted) - BY_HAND))


def open_files(_: Namespace) -> None:
    """The pages are made by act()."""


def act(given: Namespace) -> int:
    root = Path(given.root)
    folder = root / "docs" / "benchmarks"
    names = stale(root)
    if given.check:
        for name in names:
            print(f"docs/benchmarks/{name} is out of date; ./sennit bench pages writes it")
        return 1 if names else 0
    wanted = Pages(root).all()
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name in wanted:
            write_whole(wanted[name], folder / name)
        else:
            (folder / name).unlink()
    print(f"written: {len(names)} of {len(wanted)} pages in docs/benchmarks")
    return 0
