# SPDX-License-Identifier: Apache-2.0
"""`bench --scaling`: the rows of lab/scaling.toml with 1, 2, 4 and 8 workers, and docs/scaling.md,
which shows the gain and the cost of each worker, losses first.
"""

import math
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from .bench import LEAST, PRECISION, Cell, Plan, Run
from .build import ROOT, Finder
from .catalogue import WORKLOADS
from .document import write_whole
from .footnotes import footnote
from .options import FEWEST
from .scaling_rows import THREADS, Row, causes, chosen, rows
from .seed_tables import MACHINE
from .stats import Comparison, compare
from .table import NO_RESULT, SAME_MARK, Results, aligned, four_digits
from .templates import fill

ROWS = "rows of docs/scaling.md"  # in the description of results: "all" or "some"
PAGE = ROOT / "docs" / "scaling.md"
CELL_BUDGET = 4.0  # seconds of timed samples, after which a slow cell is not repeated
MOST = 2 * LEAST
COUNTS = ("crossings", "steals", "wakes", "barriers")  # shown per operation
PER = 1000  # operations
NONE = "–"
MOST_LOSS = 1.10  # more workers ÷ one worker; a larger ratio needs a cause
UNKNOWN = "The cause has not been measured yet."


class Counting:
    """Gives the commands of another finder, with the counters of Sennit's programs turned on."""

    def __init__(self, finder: Finder) -> None:
        self.finder = finder

    def command(self, name: str) -> list[str]:
        return ["env", "LAB_COUNTERS=1", *self.finder.command(name)]

    def client(self, name: str) -> list[str]:
        return self.finder.client(name)


def cells_to_measure(given: Namespace) -> list[Cell]:
    return [
        Cell(
            row.runtime,
            row.workload,
            WORKLOADS[row.workload].quick if given.quick else row.size,
            threads,
        )
        for row in chosen(given.workloads, given.runtimes)
        for threads in given.threads
    ]


def begin(given: Namespace) -> tuple[Run, Plan, str]:
    """(run, plan, the value of ROWS). The page is only written of a plan that holds all rows."""
    cells = list({(c.runtime, c.title, c.threads): c for c in cells_to_measure(given)}.values())
    plan = Plan(
        list(dict.fromkeys(cell.runtime for cell in cells)),
        list(dict.fromkeys((cell.workload, cell.size) for cell in cells)),
        given.threads,
        given.reps,
        given.seed,
        given.time_limit,
        CELL_BUDGET,
        LEAST,
        LEAST if given.quick else MOST,
        PRECISION,
        given.budget,
        given.pin,
    )
    whole = (
        not given.quick
        and set(THREADS) <= set(given.threads)
        and len(chosen(given.workloads, given.runtimes)) == len(rows())
    )
    return Run(cells), plan, "all" if whole else "some"


# --- the page -------------------------------------------------------------------------------------


class Measured:
    """One row of the description with its cells, one for each number of workers."""

    def __init__(self, row: Row, cells: dict[int, Cell], cores: int) -> None:
        self.row, self.cells, self.cores = row, cells, cores
        self.first = next(iter(cells.values()))

    def good(self, threads: int) -> Cell | None:
        cell = self.cells.get(threads)
        return cell if cell and cell.good else None

    def nanoseconds(self, threads: int) -> float | None:
        """The median time of an operation."""
        cell = self.good(threads)
        if not cell:
            return None
        return median(cell.seconds()) / cell.samples[0]["tasks"] * 1e9

    def best(self) -> float | None:
        """The least time of an operation with any number of workers."""
        times = [time for threads in self.cells if (time := self.nanoseconds(threads))]
        return min(times, default=None)

    def ratio(self, threads: int) -> Comparison | None:
        """How many times as long so many workers take as one."""
        one, more = self.good(1), self.good(threads)
        return compare(more.by_block(), one.by_block()) if one and more else None

    def loss(self) -> float:
        """The largest ratio, divided by the ideal one; without a result: above all of them."""
        more = [threads for threads in self.cells if threads > 1]
        ratios = [
            found.ratio / self.row.ideal(threads, self.cores)
            for threads in more
            if (found := self.ratio(threads))
        ]
        return max(ratios) if len(ratios) == len(more) and ratios else math.inf

    def slower(self) -> list[int]:
        """The numbers of workers that take more than MOST_LOSS times as long as one worker."""
        return [
            threads
            for threads in self.cells
            if threads > 1
            and (found := self.ratio(threads))
            and found.ratio > MOST_LOSS
            and found.same is False
        ]

    def count(self, threads: int, key: str) -> float | None:
        """The median of a counter of the runs."""
        cell = self.good(threads)
        samples = cell.samples if cell else []
        seen = [sample["counters"][key] for sample in samples if sample.get("counters")]
        return median(seen) if seen else None

    # texts of the table

    def time(self, threads: int) -> str:
        found = self.nanoseconds(threads)
        return four_digits(found) if found else NO_RESULT.get(self._status(threads), NONE)

    def ratio_text(self, threads: int) -> str:
        found = self.ratio(threads)
        if not found:
            return NO_RESULT.get(self._status(threads), NONE)
        return f"{found.ratio:.2f}{SAME_MARK[found.same]}"

    def _status(self, threads: int) -> str:
        cell = self.cells.get(threads)
        return cell.status if cell else ""

    def stacks(self) -> str:
        return _each(f"{seen:.0f}" if seen is not None else NONE for seen in self._counts("stacks"))

    def per_operation(self, key: str) -> str:
        tasks = next((cell.samples[0]["tasks"] for cell in self.cells.values() if cell.good), 1)
        return _each(
            short(seen / tasks * PER) if seen is not None else NONE for seen in self._counts(key)
        )

    def _counts(self, key: str) -> list[float | None]:
        return [self.count(threads, key) for threads in self.cells]

    def busy(self, threads: int) -> str:
        """The mean number of processors that were busy."""
        cell = self.good(threads)
        return (
            f"{median(one['cpu_seconds'] / one['seconds'] for one in cell.samples):.2f}"
            if cell
            else NONE
        )

    def peak(self) -> str:
        return _each(
            f"{max(one['peak_rss_kib'] for one in cell.samples) / 1024:.0f}" if cell.good else NONE
            for cell in self.cells.values()
        )


def _each(texts: Iterable[str]) -> str:
    shown = list(texts)
    return NONE if set(shown) <= {NONE} else " / ".join(shown)


def short(value: float) -> str:
    """Two significant digits, without an exponent."""
    if value == 0:
        return "0"
    if value < 0.001:
        return "<0.001"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def measured_rows(cells: Sequence[Cell], cores: int) -> list[Measured]:
    """The rows of the description that have cells, also with other sizes (`--quick`)."""
    of: dict[tuple[str, str, str], dict[int, Cell]] = {}
    for cell in cells:
        of.setdefault((cell.runtime, cell.workload, cell.size), {})[cell.threads] = cell
    described = {(row.runtime, row.workload): row for row in rows()}
    return [
        Measured(described[runtime, workload], dict(sorted(found.items())), cores)
        for (runtime, workload, _), found in of.items()
        if (runtime, workload) in described
    ]


def own_table(measured: Sequence[Measured], threads: Sequence[int]) -> list[list[str]]:
    """Sennit's rows, the largest loss first; the first row is the head."""
    counts = " / ".join(map(str, threads))
    head = ["workload", "runtime", "ideal", "ns, W = 1"]
    head += [f"W = {count} ÷ 1" for count in threads if count > 1]
    head += [f"stacks, W = {counts}", *COUNTS]
    own = sorted((one for one in measured if one.first.kind.ours), key=Measured.loss, reverse=True)
    return [
        head,
        *(
            [
                one.first.title,
                one.first.title_of_runtime,
                "1/W" if one.row.parallel else "1",
                one.time(1),
                *(one.ratio_text(count) for count in threads if count > 1),
                one.stacks(),
                *(one.per_operation(key) for key in COUNTS),
            ]
            for one in own
        ),
    ]


def losses(measured: Iterable[Measured]) -> list[str]:
    """A line for each row of Sennit that more workers make slower, with the cause."""
    return [
        f"`{one.first.title}`, {one.first.title_of_runtime}, "
        f"W = {', '.join(map(str, slower))}: "
        + causes().get((one.first.runtime, one.first.workload), UNKNOWN)
        for one in sorted(measured, key=Measured.loss, reverse=True)
        if one.first.kind.ours and (slower := one.slower())
    ]


def beside_peers(
    measured: Sequence[Measured], threads: Sequence[int]
) -> Iterator[tuple[str, list[list[str]]]]:
    """(title, table) of each workload that peers have, too: first those in which Sennit is furthest
    behind the best peer, each with its best number of workers.
    """
    of: dict[str, list[Measured]] = {}
    for one in measured:
        of.setdefault(one.first.title, []).append(one)

    def behind(group: list[Measured]) -> float:
        ours, peers = (
            min(
                (one.best() or math.inf for one in group if one.first.kind.ours == own),
                default=math.inf,
            )
            for own in (True, False)
        )
        return ours / peers if peers < math.inf else 0.0

    head = ["runtime", "ns, W = 1", *(f"W = {count} ÷ 1" for count in threads if count > 1)]
    head += [
        "best ns",
        f"CPUs busy, W = {max(threads)}",
        "peak MiB, W = " + " / ".join(map(str, threads)),
    ]
    shared = [group for group in of.values() if any(not one.first.kind.ours for one in group)]
    for group in sorted(shared, key=behind, reverse=True):
        factor = behind(group)
        title = group[0].first.title
        if 0 < factor < math.inf:
            title += f": Sennit's best time ÷ the best peer's is {factor:.2f}"
        yield (
            title,
            [
                head,
                *(
                    [
                        one.first.title_of_runtime,
                        one.time(1),
                        *(one.ratio_text(count) for count in threads if count > 1),
                        four_digits(best) if (best := one.best()) else NONE,
                        one.busy(max(threads)),
                        one.peak(),
                    ]
                    for one in sorted(group, key=lambda one: one.best() or math.inf)
                ),
            ],
        )


def _machine(about: dict, runtimes: set[str]) -> list[str]:
    facts = [f"{key}: {about[key]}" for key in MACHINE if about.get(key) is not None]
    facts += [
        f"{name}: {about[key]}"
        for name in sorted(runtimes)
        if about.get(key := f"version of {name}")
    ]
    loads = [
        f"{about[key]:.2f}" for key in ("load_before", "load_after") if about.get(key) is not None
    ]
    return facts + ([f"load before and after: {', '.join(loads)}"] if loads else [])


def _note(measured: Iterable[Measured], title: str = "") -> str:
    """The footnote of the table of Sennit's rows, or of those of one title."""
    return footnote(
        (one.first.runtime, one.first.workload, threads)
        for one in measured
        if one.first.kind.ours and title in ("", one.first.title)
        for threads in one.cells
    )


def markdown(run: Run, about: dict) -> str:
    measured = measured_rows(run.cells, about.get("cores", 1))
    threads = sorted({cell.threads for cell in run.cells})
    head, *own = own_table(measured, threads)
    return fill(
        "scaling.md",
        machine=_machine(about, {cell.runtime for cell in run.cells}),
        fewest=FEWEST,
        per=f"{PER:,}",
        head=head,
        own=own,
        note=_note(measured),
        losses=losses(measured),
        most_loss=f"{MOST_LOSS:.2f}",
        peers=[
            (title, head, shown, _note(measured, title.partition(":")[0]))
            for title, (head, *shown) in beside_peers(measured, threads)
        ],
        blocks=len(run.blocks),
        noisy=sum(block["noisy"] for block in run.blocks),
        reasons=Results(run.cells).reasons(),
        is_measured=bool(about),
    )


def plain(run: Run, about: dict) -> str:
    """The tables for a terminal."""
    measured = measured_rows(run.cells, about.get("cores", 1))
    threads = sorted({cell.threads for cell in run.cells})
    lines = []
    if any(one.first.kind.ours for one in measured):
        lines += [*aligned(own_table(measured, threads)), ""]
    for title, table in beside_peers(measured, threads):
        lines += [title, *aligned(table), ""]
    return "\n".join([*lines, *Results(run.cells).reasons()])


def write_page(run: Run, about: dict, folder: Path, page: Path = PAGE) -> list[str]:
    """Writes SCALING.md into the folder, and docs/scaling.md if all rows were to be measured.
    Returns the names of the files."""
    text = markdown(run, about)
    write_whole(text, folder / "SCALING.md")
    if about[ROWS] != "all":
        return [f"{folder}/SCALING.md"]
    write_whole(text, page)
    return [f"{folder}/SCALING.md", str(page)]
