# SPDX-License-Identifier: Apache-2.0
"""`bench track [FOLDER]`: appends a run to docs/results/history.jsonl, and shows the changes since
the run before it on the same kind of machine. Without a folder it shows the newest changes again.

A line of the history is a run: its circumstances, and a value of each sample of the rows of Sennit
and of the programs without a runtime. The value is seconds, or the first figure of the workload.
The programs without a runtime are the control: a change of their time is a change of the machine,
not of Sennit.
"""

import json
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .catalogue import FLOORS, RUNTIMES, UsageError
from .document import load, restore, write_whole
from .figures import compared, main_figure
from .say import say
from .stats import Comparison, compare_medians
from .table import SAME_MARK, aligned, four_digits

FORMAT, VERSION = "sennit-lab-history", 1
HISTORY = ("docs", "results", "history.jsonl")
KIND = ("cpu", "cores")  # of a machine
TOLD = ("compiler", "flags", "allocator", "pin")  # circumstances whose change the report tells
KEPT = ("date", "commit", *KIND, "kernel", "system", *TOLD[:3])

Key = tuple[str, str, str, int]  # runtime, workload, size, threads


@dataclass(frozen=True)
class Entry:
    """A line of the history."""

    about: dict
    rows: dict[Key, list[float]]  # the value of each sample

    @property
    def name(self) -> str:
        return f"commit {self.about['commit']} of {self.about['date']}"

    @property
    def line(self) -> str:
        rows = [[*key, values] for key, values in self.rows.items()]
        head = {"format": FORMAT, "version": VERSION}
        whole = head | self.about | {"rows": rows}
        return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)

    def is_like(self, other: "Entry") -> bool:
        """Whether both ran on the same kind of machine."""
        return all(self.about.get(key) == other.about.get(key) for key in KIND)


def entry(results: dict) -> Entry:
    """The line for a results file. Raises UsageError if it has no row for the history."""
    run, plan, about = restore(results)
    kept = {key: about.get(key) for key in KEPT} | {"pin": plan.pin, "state": run.state}
    kept["kernel"] = str(kept["kernel"]).partition("-")[0]  # names no build of the machine
    wanted = (
        cell
        for cell in run.cells
        if cell.good and (cell.kind.ours or cell.runtime in FLOORS) and not cell.build
    )
    rows = {
        (cell.runtime, cell.workload, cell.size, cell.threads): [
            float(f"{value:.6g}") for value in compared(cell).values()
        ]
        for cell in wanted
        if compared(cell)
    }
    if not rows:
        raise UsageError("the results have no figure of Sennit, so the history has no use for them")
    return Entry(kept, rows)


def _is_row(row: object) -> bool:
    if not isinstance(row, list) or len(row) != 5 or not isinstance(row[4], list):
        return False
    *texts, threads, seconds = row
    return (
        all(isinstance(text, str) for text in texts)
        and type(threads) is int
        and bool(seconds)
        and all(isinstance(one, (int, float)) and one > 0 for one in seconds)
    )


def read(text: str, name: str) -> list[Entry]:
    """The runs of a history, the oldest first. Raises UsageError for a line that is none."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}, line {number}"
        try:
            found = json.loads(line)
        except ValueError:
            raise UsageError(f"{where} is not JSON") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise UsageError(f"{where} is no run of a history of this lab")
        if found.get("version") != VERSION:
            raise UsageError(
                f"{where} has version {found.get('version')}; this lab reads version {VERSION}"
            )
        rows = found.get("rows")
        if not isinstance(rows, list) or not all(map(_is_row, rows)):
            raise UsageError(f"{where} is broken: its rows are not lists of samples")
        about = {key: value for key, value in found.items() if key not in ("format", "version")}
        del about["rows"]
        if missing := [key for key in ("date", "commit", *KIND) if key not in about]:
            raise UsageError(f"{where} is broken: it has no '{missing[0]}'")
        entries.append(Entry(about, {tuple(row[:4]): row[4] for row in rows}))
    return entries


@dataclass(frozen=True)
class Change:
    key: Key
    before: list[float]
    now: list[float]
    found: Comparison

    @property
    def is_control(self) -> bool:
        return self.key[0] in FLOORS

    @property
    def kind(self) -> str:
        if self.found.same is None:
            return "too few samples for a verdict"
        if self.found.same:
            return "no difference shown"
        return "slower" if self.found.ratio > 1 else "faster"

    @property
    def label(self) -> str:
        runtime, workload, size, threads = self.key
        title = RUNTIMES[runtime].title if runtime in RUNTIMES else runtime
        unit = main_figure(workload) or "s"
        return f"{title}, {workload}({size}), {threads} worker{'s' * (threads != 1)}, {unit}"

    @property
    def row(self) -> list[str]:
        texts = [four_digits(median(self.before)), four_digits(median(self.now))]
        return [self.label, *texts, f"{self.found.ratio:.3f}{SAME_MARK[self.found.same]}"]


def changes(before: Entry, now: Entry) -> list[Change]:
    """The rows that both runs have, the worst ratio first."""
    found = [
        Change(key, before.rows[key], seconds, compare_medians(seconds, before.rows[key]))
        for key, seconds in now.rows.items()
        if key in before.rows
    ]
    return sorted(found, key=lambda one: -one.found.ratio)


def _counts(found: Sequence[Change]) -> str:
    kinds = [one.kind for one in found]
    names = ("slower", "faster", "no difference shown", "too few samples for a verdict")
    return ", ".join(f"{name}: {kinds.count(name)}" for name in names if name in kinds)


def report(before: Entry, now: Entry) -> str:
    """The changes from a run to a later one, in words and tables."""
    lines = [f"Since {before.name}, on {now.about['cores']} CPUs ({now.about['cpu']}):"]
    for key in TOLD:
        if before.about.get(key) != now.about.get(key):
            lines.append(f"other {key}: {before.about.get(key)}, now {now.about.get(key)}")
    found = changes(before, now)
    ours = [one for one in found if not one.is_control]
    control = [one for one in found if one.is_control]
    head = ["row", "before", "now", "now ÷ before"]
    if ours:
        lines += [_counts(ours), "", *aligned([head, *(one.row for one in ours)])]
    else:
        lines.append("no row of Sennit is in both runs")
    if control:
        lines += ["", "The control, programs without Sennit: a change here is the machine's."]
        lines += aligned([head, *(one.row for one in control)])
    added, gone = (len(a.rows.keys() - b.rows.keys()) for a, b in ((now, before), (before, now)))
    if added or gone:
        lines += ["", f"Rows only now: {added}; rows only before: {gone}."]
    lines += ["", "= no difference shown: the 95 % interval of the ratio holds 1."]
    lines += ["? too few samples for a verdict, which takes 6 of both."]
    return "\n".join(lines)


def former(entries: Sequence[Entry], now: Entry) -> Entry | None:
    """The newest run before, on the same kind of machine, that has a row in common."""
    for one in reversed(entries):
        if one is not now and one.is_like(now) and one.rows.keys() & now.rows.keys():
            return one
    return None


def open_files(given: Namespace) -> None:
    """Reads the history and the results. Raises UsageError for a mistake in either."""
    given.path = Path(given.root, *HISTORY)
    given.text = given.path.read_text(encoding="utf-8") if given.path.exists() else ""
    given.entries = read(given.text, "/".join(HISTORY))
    given.new = entry(load(given.folder)) if given.folder else None
    if given.new is None and not given.entries:
        raise UsageError("the history is empty; ./sennit bench track FOLDER appends a run to it")
    if given.new and any(one.name == given.new.name for one in given.entries):
        raise UsageError(f"the history has the run of {given.new.name} already")


def act(given: Namespace) -> int:
    now = given.new or given.entries[-1]
    before = former(given.entries, now)
    if given.new:
        given.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(f"{given.text}{now.line}\n", given.path)
        say(f"appended: {now.name}, {len(now.rows)} rows")
    if before is None:
        say("no run before on this kind of machine has a row in common with it")
    else:
        say(report(before, now))
    return 0
