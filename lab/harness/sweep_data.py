# SPDX-License-Identifier: Apache-2.0
"""The reduced data of a sweep (lab/sweep): medians of its runs, which docs/results holds and
harness/sweep_page.py shows.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from .catalogue import UsageError
from .scaling_rows import rows as described_rows

THE_MACHINE = "the machine"  # the group of the first line of results.jsonl
COSTS = "machine"  # the group of the programs that measure the machine
CUT = "cut off by the budget"
COUNTS = ("wakes", "barriers", "crossings", "steals")
EXTRA = ("began_p50", "began_p90")  # of long_leaves
PER = 1000  # operations, for which counts are given
DIGITS = 4


def _round(value: float, digits: int = DIGITS) -> float:
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


@dataclass
class Cell:
    """The median of the runs with one number of threads. Times are in the unit of the row."""

    time: float
    n: int
    ideal: float | None = None  # as the program says
    counts: dict[str, float] = field(default_factory=dict)  # for PER operations
    extra: dict[str, float] = field(default_factory=dict)


@dataclass
class Row:
    group: str
    program: str
    arguments: str
    unit: str
    of: str = "a run"  # of which the time is
    tasks: int = 0  # operations of a run of a program of the lab
    pieces: dict[int, int] = field(default_factory=dict)  # threads -> independent parts of the work
    cells: dict[int, Cell] = field(default_factory=dict)

    @property
    def runtime(self) -> str:
        """The runtime of a program of the lab, else an empty text."""
        return self.program.removeprefix("lab-") if self.program.startswith("lab-") else ""

    @property
    def workload(self) -> str:
        return self.arguments.split()[0] if self.runtime else self.program

    def operation(self, threads: int) -> float | None:
        """The time of an operation: ns for a program of the lab, else in the unit of the row."""
        cell = self.cells.get(threads)
        if not cell:
            return None
        return cell.time * 1e6 / self.tasks if self.tasks else cell.time

    def ideal(self, threads: int, processors: int) -> float | None:
        """The time without any loss, in the unit of the row; None if that is not known."""
        cell, first = self.cells.get(threads), self.cells.get(1)
        if cell and cell.ideal is not None:
            return cell.ideal
        if not first:
            return None
        if threads in self.pieces:
            return first.time / self.pieces[threads]
        described = {(row.runtime, row.workload): row for row in described_rows()}
        row = described.get((self.runtime, self.workload))
        return first.time * row.ideal(threads, processors) if row else None

    def loss(self, threads: int, processors: int) -> float | None:
        """The time ÷ the ideal one."""
        cell, ideal = self.cells.get(threads), self.ideal(threads, processors)
        return cell.time / ideal if cell and ideal else None

    def samples(self) -> str:
        """The number of runs behind each figure."""
        counts = {cell.n for cell in self.cells.values()}
        low, high = min(counts), max(counts)
        return str(low) if low == high else f"{low}–{high}"


@dataclass
class Data:
    machine: dict[str, str]
    processors: int
    rows: list[Row]
    costs: dict[str, list[dict[str, float | str]]]  # program -> its rows
    without_result: list[str]

    def group(self, *names: str) -> list[Row]:
        return [row for row in self.rows if row.group in names]

    def threads(self) -> list[int]:
        """The numbers of threads of the rows, up to the processors."""
        found = {threads for row in self.rows for threads in row.cells}
        return sorted(threads for threads in found if threads <= self.processors)


# --- from the results -----------------------------------------------------------------------------


def lines_of(folder: Path) -> list[dict]:
    """The lines of results.jsonl. Raises UsageError."""
    path = folder / "results.jsonl"
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    if not found or found[0].get("group") != THE_MACHINE:
        raise UsageError(f"{path} does not begin with the description of a machine")
    return found


def _field(lscpu: str, name: str) -> str:
    found = re.search(rf"^{name}: *(.*)$", lscpu, re.MULTILINE)
    return found.group(1).strip() if found else ""


def _facts(about: dict, passes: str) -> dict[str, str]:
    """The machine and the programs, without names that belong to one host."""
    lscpu, built = about.get("lscpu", ""), about.get("built", {})
    processors = f"{about['processors']}"
    if hypervisor := _field(lscpu, "Hypervisor vendor"):
        processors += f", virtual, under {hypervisor}"
    model = _field(lscpu, "Model")
    facts = {
        "cpu": _field(lscpu, "Model name") + (f", model {model}" if model else ""),
        "processors": processors,
        "caches": about.get("caches", ""),
        "kernel": str(about.get("kernel", "")).partition("-")[0],
        "date": about.get("date", ""),
        "passes": passes,
    }
    facts |= {key: str(built[key]) for key in ("commit", "compiler", "flags") if key in built}
    facts |= {f"version of {name}": text for name, text in built.get("versions", {}).items()}
    return {key: text for key, text in facts.items() if text}


def _counts(sample: dict) -> dict[str, float]:
    """The counters of a run. A program of lab/sweep tells stolen forks and stolen tasks apart."""
    found = dict(sample.get("counters", {}))
    if "tasks_stolen" in found:
        found["steals"] += found["tasks_stolen"]
    return found


def _add_row(row: Row, threads: int, samples: list[dict]) -> None:
    of_lab = "seconds" in samples[0]
    times = [one["seconds"] * 1e3 if of_lab else one["time"] for one in samples]
    cell = Cell(_round(median(times)), len(times))
    units = row.tasks if of_lab else 1
    counted = [counts for one in samples if (counts := _counts(one))]
    for name in COUNTS:
        if counted and all(name in counts for counts in counted):
            middle = median(counts[name] for counts in counted)
            cell.counts[name] = _round(middle / units * PER, 3)
    if "ideal" in samples[0]:
        cell.ideal = _round(median(one["ideal"] for one in samples))
    if "pieces" in samples[0]:
        row.pieces[threads] = int(samples[0]["pieces"])
    for name in EXTRA:
        if name in samples[0]:
            cell.extra[name] = _round(median(one[name] for one in samples))
    row.cells[threads] = cell


def _rows(lines: Iterable[dict]) -> list[Row]:
    samples: dict[tuple[str, str, str], dict[int, list[dict]]] = {}
    for line in lines:
        if line["group"] in (THE_MACHINE, COSTS) or line["status"] != "ok":
            continue
        key = (line["group"], line["program"], line["arguments"])
        samples.setdefault(key, {}).setdefault(line["threads"], []).extend(line["rows"])
    found = []
    for key, of_threads in samples.items():
        first = next(iter(of_threads.values()))[0]
        if "seconds" in first:
            row = Row(*key, unit="ms", tasks=first["tasks"])
        else:
            row = Row(*key, unit=first["unit"], of=first["of"])
        for threads, of_cell in sorted(of_threads.items()):
            _add_row(row, threads, of_cell)
        found.append(row)
    return found


def _costs(lines: Iterable[dict]) -> dict[str, list[dict[str, float | str]]]:
    """The rows of the last run of each program."""
    found = {}
    for line in lines:
        if line["group"] == COSTS and line["status"] == "ok":
            found[line["program"]] = [
                {
                    key: _round(value, 3) if isinstance(value, int | float) else value
                    for key, value in row.items()
                    if key != "program"
                }
                for row in line["rows"]
            ]
    return found


def _without_result(lines: Iterable[dict]) -> list[str]:
    found = [
        f"{' '.join(line['command'])}: {line['status']}"
        + (f", {line['error']}" if line.get("error") else "")
        for line in lines
        if line["group"] != THE_MACHINE and line["status"] not in ("ok", CUT)
    ]
    return list(dict.fromkeys(found))


def reduced(lines: list[dict]) -> Data:
    rows = _rows(lines)
    counts = [cell.n for row in rows for cell in row.cells.values()]
    if not counts:
        raise UsageError("the sweep has no result")
    passes = f"{min(counts)}"
    if more := sum(count > min(counts) for count in counts):
        passes += f" ({more} of {len(counts)} figures have more runs)"
    return Data(
        _facts(lines[0], passes),
        int(lines[0]["processors"]),
        rows,
        _costs(lines),
        _without_result(lines),
    )


# --- the committed file ---------------------------------------------------------------------------


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _columns(row: Row) -> dict[str, list]:
    """The figures of a row: a list for each kind, with an element for each number of threads."""
    cells = row.cells
    columns: dict[str, list] = {
        "threads": list(cells),
        "time": [one.time for one in cells.values()],
    }
    columns["n"] = [one.n for one in cells.values()]
    columns["ideal"] = [one.ideal for one in cells.values()]
    columns["pieces"] = [row.pieces.get(threads) for threads in cells]
    for name in EXTRA:
        columns[name] = [one.extra.get(name) for one in cells.values()]
    for name in COUNTS:
        columns[name] = [one.counts.get(name) for one in cells.values()]
    return {
        name: column
        for name, column in columns.items()
        if any(value is not None for value in column)
    }


def _block(lines: list[str], opening: str, closing: str) -> str:
    return opening + "\n" + ",\n".join(lines) + "\n" + closing


def text_of(data: Data) -> str:
    """A line for each kind of figure of a row, so that two versions can be compared."""
    rows = []
    for row in data.rows:
        head: dict[str, object] = {"group": row.group, "program": row.program}
        head["arguments"] = row.arguments
        if row.tasks:
            head["tasks"] = row.tasks
        else:
            head |= {"unit": row.unit, "of": row.of}
        columns = [f" {_json(name)}:{_json(column)}" for name, column in _columns(row).items()]
        rows.append(",\n".join([_json(head)[:-1], *columns]) + "}")
    costs = [
        _block(["  " + _json(one) for one in found], f"{_json(program)}: [", " ]")
        for program, found in data.costs.items()
    ]
    machine = [f"{_json(key)}: {_json(text)}" for key, text in data.machine.items()]
    parts = [
        _block(machine, '"machine": {', "}"),
        f'"processors": {data.processors}',
        _block(rows, '"rows": [', "]"),
        _block(costs, '"costs": {', "}"),
        _block([_json(text) for text in data.without_result], '"without_result": [', "]"),
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def parsed(text: str) -> Data:
    """The data of a committed file."""
    told = json.loads(text)
    rows = []
    for one in told["rows"]:
        row = Row(one["group"], one["program"], one["arguments"], one.get("unit", "ms"))
        row.of, row.tasks = one.get("of", "a run"), one.get("tasks", 0)
        for place, threads in enumerate(one["threads"]):
            found = {
                name: column[place]
                for name, column in one.items()
                if isinstance(column, list) and column[place] is not None
            }
            if "pieces" in found:
                row.pieces[threads] = found["pieces"]
            row.cells[threads] = Cell(
                found["time"],
                found["n"],
                found.get("ideal"),
                {name: found[name] for name in COUNTS if name in found},
                {name: found[name] for name in EXTRA if name in found},
            )
        rows.append(row)
    return Data(told["machine"], told["processors"], rows, told["costs"], told["without_result"])
