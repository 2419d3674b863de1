#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each figure in the cost table of docs/performance.md is a measured one.

    check_costs.py [--fix]

The measured figures are the rows of the section "All models on Zen 5" of
docs/performance-history.md. OPERATIONS says which rows the cost table shows, in which order and
under which name. With --fix, the tool writes the table again.
"""

import argparse
import re

import policy

PAGE, SOURCE = "docs/performance.md", "docs/performance-history.md"
SECTION = "## All models on Zen 5"
HEAD = (
    "| model | operation (`runtime workload`) | g++, 1 worker | 2 workers | clang, 1 worker"
    " | 2 workers |",
    "|---|---|--:|--:|--:|--:|",
)
FIGURES = 4  # g++ with 1 and 2 workers, clang with 1 and 2 workers
OPERATIONS = {
    "fibers": {
        "sennit-fiber fiber-create": "create and join",
        "sennit-fiber fiber-yield": "yield",
        "sennit-fiber skynet-channel": "a fiber of skynet over channels",
        "sennit-fiber channel-rendezvous": "message, capacity 0",
        "sennit-fiber channel-buffered": "message, capacity 128",
        "sennit-fiber mutex-free": "lock and unlock a free mutex",
        "sennit-fiber condition": "condition variable, one hand-over",
        "sennit-fiber select-two": "select over two channels",
    },
    "coroutines": {
        "sennit-coroutine resume": "resume and suspend",
        "sennit-coroutine create": "create",
    },
    "generators": {"sennit-generator resume": "one element"},
    "monitors": {
        "sennit-monitor monitor-1": "enter and leave one",
        "sennit-monitor monitor-4": "enter and leave four",
        "sennit-monitor signal-1": "signal and wait",
        "sennit-monitor accept-1": "accept a call",
    },
    "actors": {
        "sennit-actor thread-ring": "message round a ring",
        "sennit-actor ping-pong": "message of two actors",
        "sennit-actor fan-in": "twenty senders, one receiver",
        "sennit-actor spawn-storm": "make and end",
    },
}


def measured(text):
    """The medians of each row of the section: {"runtime workload": [figure, …]}."""
    section = text.partition(f"\n{SECTION}\n")[2].partition("\n## ")[0]
    rows = {}
    for line in section.splitlines():
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if found := re.fullmatch(r"`(\S+ \S+) [\d,]+`", name):
            rows[found[1]] = [cell.partition(" (")[0] for cell in cells[:FIGURES]]
    return rows


def table(rows):
    """The lines of the cost table. Raises KeyError for an operation without a measured row."""
    lines = list(HEAD)
    for model, operations in OPERATIONS.items():
        for number, (name, operation) in enumerate(operations.items()):
            shown = [model if number == 0 else "", f"{operation} (`{name}`)", *rows[name]]
            lines.append("".join(f"| {cell} " if cell else "| " for cell in shown) + "|")
    return lines


def parts(page):
    """The lines before the table, those of the table, and those after it."""
    lines = page.splitlines()
    if HEAD[0] not in lines:
        return lines, [], []
    begin = end = lines.index(HEAD[0])
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return lines[:begin], lines[begin:end], lines[end:]


def check(page, source):
    rows = measured(source)
    missing = [name for of in OPERATIONS.values() for name in of if name not in rows]
    if missing:
        return [f"{SOURCE}: '{SECTION}' has no row for {', '.join(missing)}"]
    before, shown, _ = parts(page)
    if not shown:
        return [f"{PAGE}: has no table with the head {HEAD[0]}"]
    wanted = table(rows)
    findings = [
        f"{PAGE}:{len(before) + number}: is '{line}', but the measured row is '{right}'"
        for number, (line, right) in enumerate(zip(shown, wanted), 1)
        if line != right
    ]
    if len(shown) != len(wanted):
        findings.append(f"{PAGE}: the table has {len(shown)} lines instead of {len(wanted)}")
    return findings


def fix(page, source):
    before, _, after = parts(page)
    return "\n".join([*before, *table(measured(source)), *after]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="write the table again")
    args = parser.parse_args()
    path = policy.ROOT / PAGE
    page = path.read_text(encoding="utf-8")
    source = (policy.ROOT / SOURCE).read_text(encoding="utf-8")
    if args.fix and parts(page)[1]:
        page = fix(page, source)
        path.write_text(page, encoding="utf-8")
    findings = check(page, source)
    if findings and not args.fix:
        findings.append("tools/check_costs.py --fix writes the table again")
    policy.finish("check_costs", findings, 2)


if __name__ == "__main__":
    main()
