# SPDX-License-Identifier: Apache-2.0
"""`bench sweep-page FOLDER`: docs/NAME.md and its data docs/results/NAME.json, from the results of
a pack on a machine with many processors. Without FOLDER the page is written from the data.
"""

import math
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from .catalogue import RUNTIMES, UsageError
from .document import write_whole
from .footnotes import footnote
from .say import say
from .scaling import NONE, short
from .sweep_data import COUNTS, PER, Data, Row, lines_of, parsed, reduced, text_of
from .table import four_digits
from .templates import fill

Table = dict[str, list]  # head, rows: for the macro of templates/tables.md
PEERS = {  # groups of Sennit -> those of its peers
    "forks": "peers of forks",
    "fibers": "peers of fibers",
    "actors": "peers of actors",
}
PHASES = ("phases", "phases from outside", "phases without membarrier")
SINGLE = ("little parallelism", "long leaves", "spawned actors", "remote frees", "waiting fibers")
UNITS = {"us": "µs"}
PHASES_OF = {
    "phases": "Sennit",
    "phases_onetbb": "oneTBB",
    "phases_openmp": "OpenMP",
    "phases_taskflow": "taskflow",
}
COSTS = {  # program -> the meaning of its rows
    "membarrier_cost": "`membarrier` calls: so many callers at once, beside so many threads that "
    "compute. *lost ns* is the time that each of these threads loses to a call.",
    "cache_line_transfer": "A cache line from one processor to another, half a round trip, over "
    "all pairs of processors.",
    "futex_wake": "A futex wake-up: the time of the call, and the time until the woken thread "
    "runs; then the time until the last of several sleepers runs.",
    "polled_line": "A push and a pop of an owner whose words other threads read, or in which they "
    "set a request for work. Two layouts: all words in one cache line, and the words that other "
    "threads use in a line of their own.",
    "spin_locks": "A lock and unlock of one lock under contention, by kind of lock.",
    "processor_sharing": "Threads that share processors: a pause of a spinning thread; how long "
    "one of two threads on a processor runs before the other one runs; and the time until a woken "
    "thread runs beside threads that compute.",
}


def is_ours(row: Row) -> bool:
    if row.runtime:
        return RUNTIMES[row.runtime].ours
    return PHASES_OF.get(row.program, "Sennit") == "Sennit"


def runtime_title(row: Row) -> str:
    if not row.runtime:
        return PHASES_OF.get(row.program, "Sennit")
    if row.runtime == "boost-fiber":  # jobs.toml sets the variable of the spinning runtime
        return RUNTIMES["boost-fiber-spinning"].title
    return RUNTIMES[row.runtime].title


def title(row: Row) -> str:
    """The work of a row, in words."""
    words = row.arguments.split()
    if row.runtime:
        return f"{words[0]}({words[1]})"
    if row.program.startswith("phases"):
        return ", ".join(filter(None, [_loops(row), _where(row)]))
    if row.program == "little_parallelism":
        return f"{_number(words[1], 'fiber')}, forks of {words[2]} µs"
    if row.program == "long_leaves":
        return f"{_number(words[1], 'owner')}, {words[2]} forks, a leaf of {words[3]} µs"
    if row.program == "actor_spawn":
        return f"actors, {words[3]}-lived"
    if row.program == "waiting_fibers":
        what = "sleeping fibers" if words[1] == "timers" else "pairs that ask inside forks"
        return f"{words[2]} {what}"
    return row.program.replace("_", " ")


def _loops(row: Row) -> str:
    words = row.arguments.split()
    return f"loops of {words[1]} µs, gaps of {words[2]} µs"


def _where(row: Row) -> str:
    """The circumstance that distinguishes a group of loops: `without membarrier`."""
    return row.group.removeprefix("phases").strip() if row.group in PHASES else ""


def _number(word: str, noun: str) -> str:
    return f"{word} {noun}" if word == "1" else f"{word} {noun}s"


# --- tables ---------------------------------------------------------------------------------------


def _time(row: Row, threads: int) -> str:
    value = row.operation(threads)
    return four_digits(value) if value else NONE


def _unit(row: Row) -> str:
    return "ns" if row.tasks else UNITS.get(row.unit, row.unit)


def _ratio(above: float | None, below: float | None) -> str:
    return f"{above / below:.2f}" if above and below else NONE


def _columns(threads: Iterable[int]) -> list[str]:
    return [f"W = {count}" for count in threads]


def losses(data: Data) -> list[tuple[float, Row]]:
    """Sennit's rows whose time with all workers is above the ideal one, the largest loss first."""
    most = data.processors
    found = [
        (loss, row)
        for row in data.rows
        if is_ours(row) and (loss := row.loss(most, data.processors)) and loss > 1
    ]
    return sorted(found, key=lambda one: one[0], reverse=True)


def is_slower(row: Row, most: int) -> bool:
    """Whether all workers take longer than one of them; rows without a run with one do not."""
    first, last = row.cells.get(1), row.cells.get(most)
    return bool(first and last and last.time > first.time)


def _loss_table(found: Sequence[tuple[float, Row]], data: Data) -> Table:
    threads, most = data.threads(), data.processors
    head = ["workload", "runtime", "n", "unit", *_columns(threads)]
    head += [f"W = {most} ÷ 1", "÷ ideal"]
    return {
        "head": head,
        "rows": [
            [
                title(row),
                runtime_title(row),
                row.samples(),
                _unit(row),
                *(_time(row, count) for count in threads),
                _ratio(row.operation(most), row.operation(1)),
                f"{loss:.2f}",
            ]
            for loss, row in found
        ],
    }


def _counted_table(rows: Sequence[Row], data: Data) -> Table:
    """Times, and the counts with all workers."""
    threads, most = data.threads(), data.processors
    head = ["workload", "n", "unit", *_columns(threads), f"W = {most} ÷ 1", "÷ ideal", *COUNTS]

    def count(row: Row, name: str) -> str:
        cell = row.cells.get(most)
        return short(cell.counts[name]) if cell and name in cell.counts else NONE

    return {
        "head": head,
        "rows": [
            [
                title(row),
                row.samples(),
                _unit(row),
                *(_time(row, one) for one in threads),
                _ratio(row.operation(most), row.operation(1)),
                f"{loss:.2f}" if (loss := row.loss(most, data.processors)) else NONE,
                *(count(row, name) for name in COUNTS),
            ]
            for row in rows
        ],
    }


def _forks_table(data: Data) -> Table:
    """Milliseconds and speed-ups of Sennit."""
    threads, most = data.threads(), data.processors
    plain = {row.arguments: row for row in data.group("plain functions")}
    head = ["workload", "n", "plain", *_columns(threads), f"1 ÷ W = {most}", "÷ ideal"]
    rows = []
    for row in data.group("forks"):
        floor = plain[row.arguments].cells.get(1) if row.arguments in plain else None
        times = {count: row.cells[count].time for count in threads if count in row.cells}
        loss = row.loss(most, data.processors)
        rows.append(
            [
                title(row),
                row.samples(),
                four_digits(floor.time) if floor else NONE,
                *(four_digits(times[one]) if one in times else NONE for one in threads),
                _ratio(times.get(1), times.get(most)),
                f"{loss:.2f}" if loss else NONE,
            ]
        )
    return {"head": head, "rows": rows}


def _work(row: Row) -> tuple[str, ...]:
    """Rows with equal work can be compared by the time of an operation. Sizes that are numbers may
    differ.
    """
    if not row.runtime:
        return (row.arguments,)
    size = row.arguments.split()[1]
    return (row.workload,) if size.isdigit() else (row.workload, size)


def _beside(ours: Sequence[Row], peers: Sequence[Row], data: Data) -> Table:
    """A row for each workload that a peer has: all runtimes with all threads, the workload in which
    Sennit is furthest behind first. Times are those of an operation.
    """
    most = data.processors
    names = list(dict.fromkeys(runtime_title(row) for row in peers))
    found = []
    for row in ours:
        of_peers = {
            runtime_title(peer): time
            for peer in peers
            if _work(peer) == _work(row) and (time := peer.operation(most))
        }
        own = row.operation(most)
        if not own or not of_peers:
            continue
        best = min(of_peers.values())
        shown = [
            four_digits(of_peers[name]) + (" best" if of_peers[name] == best else "")
            if name in of_peers
            else NONE
            for name in names
        ]
        numbers = [peer.samples() for peer in peers if _work(peer) == _work(row)]
        samples = "/".join(dict.fromkeys([row.samples(), *numbers]))
        line = [title(row), _unit(row), samples, four_digits(own), *shown, f"{own / best:.2f}"]
        found.append((own / best, line))
    found.sort(key=lambda one: one[0], reverse=True)
    head = ["workload", "unit", "n", "Sennit", *names, "÷ best peer"]
    return {"head": head, "rows": [line for _, line in found]}


def _phases_tables(data: Data) -> list[tuple[str, Table]]:
    """(title, table) of each shape of loops, with a line for each runtime; first the shapes with
    the largest loss of Sennit.
    """
    threads, most = [one for one in data.threads() if one > 1], data.processors
    of: dict[str, list[Row]] = {}
    for row in data.group(*PHASES):
        of.setdefault(" ".join(row.arguments.split()[1:3]), []).append(row)

    def line(row: Row) -> list[str]:
        ideal, loss = row.ideal(most, data.processors), row.loss(most, data.processors)
        return [
            f"{runtime_title(row)} {_where(row)}".strip(),
            row.samples(),
            *(_time(row, count) for count in threads),
            four_digits(ideal) if ideal else NONE,
            f"{loss:.2f}" if loss else NONE,
        ]

    def largest_loss(rows: list[Row]) -> float:
        return max((row.loss(most, most) or 0.0 for row in rows if is_ours(row)), default=0.0)

    head = ["runtime", "n", *_columns(threads), "ideal", "÷ ideal"]
    found: list[tuple[str, Table]] = []
    for rows in sorted(of.values(), key=largest_loss, reverse=True):
        lines = [line(row) for row in sorted(rows, key=lambda one: one.operation(most) or math.inf)]
        found.append((_loops(rows[0]).capitalize(), {"head": head, "rows": lines}))
    return found


def _leaves_table(data: Data) -> Table:
    """The time by which nine of ten children behind a long leaf have begun."""
    rows = data.group("long leaves")
    threads = sorted({count for row in rows for count in row.cells})
    lines = []
    for row in rows:
        began = {count: cell.extra.get("began_p90") for count, cell in row.cells.items()}
        times = [four_digits(time) if (time := began.get(one)) else NONE for one in threads]
        lines.append([title(row), row.samples(), *times])
    return {"head": ["forks", "n", *_columns(threads)], "rows": lines}


def _over_table(data: Data) -> Table:
    """More workers than processors, beside as many workers as processors."""
    most = data.processors
    rows = data.group("more workers than processors", "more workers than processors, phases")
    threads = sorted({count for row in rows for count in row.cells})
    lines = []
    for row in rows:
        same = next(
            (
                one
                for one in data.rows
                if one.program == row.program and title(one) == title(row) and most in one.cells
            ),
            None,
        )
        unit = UNITS.get(row.unit, row.unit)
        first = four_digits(same.cells[most].time) if same else NONE
        times = [four_digits(row.cells[one].time) if one in row.cells else NONE for one in threads]
        lines.append([title(row), row.samples(), unit, first, *times])
    return {"head": ["workload", "n", "unit", *_columns([most, *threads])], "rows": lines}


def _in_words(name: str) -> str:
    """The head of a column: `call_p50_us` is `call p50, µs`."""
    what, _, unit = name.rpartition("_")
    if unit in ("us", "ns"):
        return f"{what.replace('_', ' ')}, {UNITS.get(unit, unit)}"
    return name.replace("_", " ")


def _cost_tables(data: Data) -> list[tuple[str, list[Table]]]:
    """(text, tables) of each program: a table for the rows that have equal columns."""
    found = []
    for program, rows in data.costs.items():
        of: dict[tuple[str, ...], list[list[str]]] = {}
        for row in rows:
            cells = [value if isinstance(value, str) else short(value) for value in row.values()]
            of.setdefault(tuple(row), []).append(cells)
        tables: list[Table] = [
            {"head": [_in_words(name) for name in head], "rows": lines}
            for head, lines in of.items()
        ]
        found.append((COSTS.get(program, program), tables))
    return found


def _note(rows: Iterable[Row]) -> str:
    return footnote(
        (row.runtime, row.workload, threads) for row in rows for threads in row.cells if row.runtime
    )


# --- the page -------------------------------------------------------------------------------------


def _facts(machine: dict[str, str]) -> list[str]:
    """The circumstances, the versions of all peers in one line."""
    beginning = "version of "
    versions = [
        f"{RUNTIMES[runtime].title} {text.partition(', rustc')[0].removeprefix('go')}"
        for name, text in machine.items()
        if name.startswith(beginning) and (runtime := name.removeprefix(beginning)) in RUNTIMES
    ]
    facts = [f"{key}: {text}" for key, text in machine.items() if not key.startswith(beginning)]
    return facts + ([f"peers: {', '.join(versions)}"] if versions else [])


def markdown(data: Data, name: str) -> str:
    found = losses(data)
    most = data.processors
    ours = [row for row in data.rows if is_ours(row) and row.loss(most, most)]
    slower = [one for one in found if is_slower(one[1], most)]
    below = [one for one in found if one not in slower]
    beside = {
        group: _beside(data.group(group), data.group(peers), data) for group, peers in PEERS.items()
    }
    phases = data.group("phases")
    beside["phases"] = _beside(
        [row for row in phases if is_ours(row)], [row for row in phases if not is_ours(row)], data
    )
    behind = [line for table in beside.values() for line in table["rows"] if float(line[-1]) > 1]
    return fill(
        "sweep.md",
        name=name,
        most=most,
        facts=_facts(data.machine),
        per=f"{PER:,}",
        count_of_rows=len(ours),
        count_of_behind=len(behind),
        count_of_compared=sum(len(table["rows"]) for table in beside.values()),
        few=min(cell.n for row in data.rows for cell in row.cells.values()),
        slower=_loss_table(slower, data),
        slower_note=_note(row for _, row in slower),
        below=_loss_table(below, data),
        below_note=_note(row for _, row in below),
        forks=_forks_table(data),
        fibers=_counted_table(data.group("fibers"), data),
        fibers_note=_note(data.group("fibers")),
        actors=_counted_table(data.group("actors"), data),
        single=_counted_table(data.group(*SINGLE), data),
        phases=_phases_tables(data),
        phases_counted=_counted_table([row for row in data.group(*PHASES) if is_ours(row)], data),
        leaves=_leaves_table(data),
        over=_over_table(data),
        costs=_cost_tables(data),
        beside=beside,
        without_result=data.without_result,
    )


def open_files(given: Namespace) -> None:
    """Reads the results, or the committed data. Raises UsageError."""
    root = Path(given.root)
    given.data_file = root / "docs" / "results" / f"{given.name}.json"
    given.page_file = root / "docs" / f"{given.name}.md"
    if given.folder:
        given.data = reduced(lines_of(Path(given.folder)))
        return
    try:
        given.data = parsed(given.data_file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{given.data_file}: {error.strerror}; name the FOLDER of a sweep's results"
        ) from None


def act(given: Namespace) -> int:
    given.data_file.parent.mkdir(parents=True, exist_ok=True)
    text = text_of(given.data)
    write_whole(text, given.data_file)
    write_whole(markdown(parsed(text), given.name), given.page_file)
    say(f"written: {given.page_file}, {given.data_file}")
    return 0
