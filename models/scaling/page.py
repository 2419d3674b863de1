# SPDX-License-Identifier: Apache-2.0
"""Writes docs/internals/scaling.md: predictions beside measurements, with a note for each
disagreement from notes.toml."""

import json
import textwrap
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import compare
import machine
import policies

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "internals" / "scaling.md"

INTRO = """\
# How the idle path scales: predictions and measurements

For maintainers. `models/scaling` is a discrete-event simulation of workers that search, park and
wake each other ([models/README.md](../../models/README.md#scaling)). `python3 models/scaling
--write` writes this page; not by hand. Each column says whether its figures are **measured** or
**predicted**. No constant of the model was fitted to a row: all costs come from calibration
programs, except those that the first section calls assumed. But two rules were changed after a look
at the rows: the choice of the next thread, and the cost of a look at all workers.
"""

POLICIES = """\
## The policies

The model repeats the steps of [src/core/README.md](../../src/core/README.md#two-protocols). Its
policies are those of four states of the library:
"""

TWO = """\
## Up to 64 workers on two processors

Counts for each parallel loop of 1 ms with a gap of 0.1 ms (`sweep/phases W 1000 100`), then for
each fork of one fiber, 50 us long (`sweep/little_parallelism W 1 50`). Measured at commit {commit},
with the policy `now`: medians of {runs} runs. Predicted: means of {seeds} runs. A count agrees if
it differs by at most {tolerance} %, or by {small}. **Bold** marks predictions that do not agree.
{agree} of {all} counts agree.
"""

SIXTEEN = """\
## 16 processors

The sweep of [sixteen-cores.md](../sixteen-cores.md) at commit 2606082 is measured, and the policy
`last` is that of its commit. The measured times are medians of one to three runs. A time agrees if
it differs by at most {tolerance} %. {agree} of {all} times agree. The model does not cover fibers
that communicate, actors, timers and the births of actors.
"""

SIXTEEN_COUNTS = """\
The counts of the same sweep, for each loop, fork or round. They are no criterion of this section.
The barriers of loops are more than predicted; their cause has not been measured.
"""

EARLIER = """\
## Earlier states of the library

Loops as in the decision records that measured the earlier policies (the middle of each range). The
times are microseconds. The records are older than the costs of the two processors. These rows are
no criterion. They test whether the model tells the policies apart.
"""

PREDICTIONS = """\
## More than 16 processors

All figures of this section are **predicted**: no machine at hand has so many processors. The costs
are those of the machine with 16 processors. The cost of a barrier beside more threads follows the
line through its measured costs: {b64:.0f}, {b256:.0f} and {b1024:.0f} us for 64, 256 and 1,024
workers. The model has one cache and one node of memory, so real machines of this size are slower.

The figures from 256 workers on depend on the assumed cost of a line that is cached. If a look
fetched the lines of all workers instead of those of busy ones, no thief would reach a published
fork before the owner takes it back. A loop with 256 workers and the policies `last` and `tree` then
took 276,000 us, and one with `now` 2,700 us.

The ideal times are 1,000 us, 50 us, and {fib:,.0f} us divided by W.
"""


def figure(value):
    """A number with three or four digits."""
    if value >= 1000:
        return f"{value:,.0f}"
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 0.005:
        return f"{value:.2f}"
    return "0"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def pair(row, key, wrong):
    predicted = figure(row.predicted[key])
    return [figure(row.measured[key]), f"**{predicted}**" if wrong else predicted]


def wrapped(text):
    return textwrap.fill(text, 100, break_on_hyphens=False, break_long_words=False)


def notes_for(names, rows):
    """The notes that explain the disagreements in `rows`. Raises ValueError if a workload has a
    disagreement and no note, or a note and no disagreement."""
    with (HERE / "notes.toml").open("rb") as file:
        notes = {note["row"]: note["text"] for note in tomllib.load(file)["note"]}
    lines = []
    for name in names:
        workers = [str(row.workers) for row in rows if row.name == name and row.wrong]
        if bool(workers) != (name in notes):
            raise ValueError(
                f"notes.toml: the row {name!r} has {'no note' if workers else 'a note'}, and "
                f"{'a' if workers else 'no'} disagreement; "
                f"{'add a note with the cause' if workers else 'remove the note'}"
            )
        if workers:
            text = f"* `{name}`, W = {', '.join(workers)}: {notes[name]}"
            lines.append(textwrap.fill(text, 100, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(lines) + "\n" if lines else ""


def costs_section():
    two, sixteen = machine.load("two"), machine.load("sixteen")
    rows = [
        ("barrier beside one computing thread", two.barrier_us(1), sixteen.barrier_us(1)),
        ("barrier beside all processors", two.barrier_us(1), sixteen.barrier_us(15)),
        ("a computing thread loses by a barrier", two.lost_us, sixteen.lost_us),
        ("wake-up after 100 us: the call", two.wake_call_us(100), sixteen.wake_call_us(100)),
        ("until the woken thread runs", two.wake_us(100, 0), sixteen.wake_us(100, 0)),
        ("the same after 1,000 us", two.wake_us(1000, 0), sixteen.wake_us(1000, 0)),
        ("cache line from another processor", two.line_us, sixteen.line_us),
        ("32 pauses between two looks", two.pauses_us, sixteen.pauses_us),
    ]
    assumed = ", ".join(
        f"{key.replace('_', ' ')} {value} us" for key, value in two.table["model_us"].items()
    )
    lines = [
        "## The costs\n",
        wrapped(
            "Measured by the programs of `lab/sweep/programs`, in microseconds. The files in "
            "`models/scaling/machines` have all of them, with the programs' names. The pauses were "
            "measured on the two processors only; both machines have the same model of processor."
        )
        + "\n",
        table(
            ["cost", "two processors", "16 processors"],
            [[name, figure(a), figure(b)] for name, a, b in rows],
        ),
        wrapped(f"Assumed for both machines: {assumed}.") + "\n",
    ]
    return "\n".join(lines)


def two_section(rows):
    head = ["W", "time, measured", "predicted"]
    for key in compare.COUNTS:
        head += [f"{key.replace('_', ' ')}, measured", "predicted"]
    parts = []
    names = ("phases", "little_parallelism")
    for name in names:
        lines = []
        for row in (row for row in rows if row.name == name):
            cells = [str(row.workers), *pair(row, "us", False)]
            for key in compare.COUNTS:
                cells += pair(row, key, key in row.wrong)
            lines.append(cells)
        parts.append(f"`{name}`, times in microseconds:\n\n" + table(head, lines))
    counts = len(compare.COUNTS) * len(rows)
    measured = json.loads((HERE / "measured" / "two.json").read_text(encoding="utf-8"))
    text = TWO.format(
        commit=measured["commit"],
        runs=measured["runs"],
        seeds=len(compare.SEEDS),
        tolerance=round(100 * compare.COUNT_TOLERANCE),
        small=compare.SMALL_COUNT,
        agree=counts - sum(len(row.wrong) for row in rows),
        all=counts,
    )
    return "\n".join([text, *parts, notes_for(names, rows)])


def sixteen_section(rows):
    names = list(dict.fromkeys(row.name for row in rows))
    head, lines, counts = ["program", "W", "measured, us", "predicted, us", "difference"], [], []
    for row in rows:
        difference = 100 * (row.predicted["us"] / row.measured["us"] - 1)
        lines.append(
            [f"`{row.name}`", str(row.workers), *pair(row, "us", row.wrong), f"{difference:+.0f} %"]
        )
        if "barriers" in row.measured:
            cells = [f"`{row.name}`", str(row.workers)]
            for key in ("barriers", "wakes", "steals"):
                cells += pair(row, key, False)
            counts.append(cells)
    text = SIXTEEN.format(
        tolerance=round(100 * compare.TIME_TOLERANCE),
        agree=sum(not row.wrong for row in rows),
        all=len(rows),
    )
    head_of_counts = ["program", "W"]
    for key in ("barriers", "wakes", "steals"):
        head_of_counts += [f"{key}, measured", "predicted"]
    return "\n".join(
        [
            text,
            table(head, lines),
            notes_for(names, rows),
            SIXTEEN_COUNTS,
            table(head_of_counts, counts),
        ]
    )


def earlier_section(rows):
    head = ["record", "processors", "policy", "W", "loop, gap in us"]
    for title in ("time", "barriers", "wakes"):
        head += [f"{title}, measured", "predicted"]
    lines = []
    for row in rows:
        seen = row.measured
        cells = [
            RECORDS[seen["record"]],
            {"two": "2", "sixteen": "16"}[seen["machine"]],
            f"`{row.name}`",
            str(row.workers),
            f"{seen['loop_us']:,}, {seen['gap_us']:,}",
        ]
        for key in ("us", "barriers", "wakes"):
            cells += [figure(seen[key]) if key in seen else "–", figure(row.predicted[key])]
        lines.append(cells)
    return EARLIER + "\n" + table(head, lines)


RECORDS = {
    "0048": "[0048](decisions/0048-the-last-searcher-pays.md)",
    "0082": "[0082](decisions/0082-one-barrier-for-several-owners.md)",
}


def predictions_section(rows):
    costs = machine.load("sixteen", processors=1024)
    parts = [
        PREDICTIONS.format(
            b64=costs.barrier_us(63),
            b256=costs.barrier_us(255),
            b1024=costs.barrier_us(1023),
            fib=compare.FIB_WORK_US,
        )
    ]
    names = [policy.name for policy in policies.ALL]
    for workload in dict.fromkeys(row.workload for row in rows):
        head = ["W"]
        for key in ("time, us", "barriers", "wakes"):
            head += [f"`{name}`: {key}" for name in names]
        lines = []
        for workers in compare.PREDICTED_WORKERS:
            of = {
                row.policy: row.figures
                for row in rows
                if row.workload == workload and row.workers == workers
            }
            cells = [f"{workers:,}"]
            for key in ("us", "barriers", "wakes"):
                cells += [figure(of[name][key]) for name in names]
            lines.append(cells)
        parts.append(f"`{workload}`, predicted:\n\n" + table(head, lines))
    return "\n".join(parts)


def text():
    """The whole page."""
    listed = "\n".join(
        textwrap.fill(f"* `{p.name}`: {p.text}.", 100, subsequent_indent="  ")
        for p in policies.ALL
    )
    with ProcessPoolExecutor() as pool:  # the runs of one section need no other section
        two = pool.submit(compare.two_processors)
        more = pool.submit(compare.predictions)
        sixteen = pool.submit(compare.sixteen_processors)
        earlier = pool.submit(compare.earlier_states)
    sections = [
        INTRO,
        costs_section(),
        POLICIES,
        listed + "\n",
        two_section(two.result()),
        sixteen_section(sixteen.result()),
        earlier_section(earlier.result()),
        predictions_section(more.result()),
        LEFT_OUT,
    ]
    return "\n".join(section.rstrip("\n") + "\n" for section in sections)


LEFT_OUT = """\
## Left out

The model has forks only: no queues of tasks, actors, mailboxes, timers or events from outside, and
so no sentinel, which watches lone tasks. It has no contention for cache lines and locks, no memory
bandwidth, no topology, and no interruptions of virtual processors by their host.
"""
