# SPDX-License-Identifier: Apache-2.0
"""The footnotes of tables: where a fiber of Sennit is a call, and which rows of a lone worker have
locks without locked instructions. A table has the notes of its rows.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .catalogue import RUNTIMES

Shown = tuple[str, str, int]  # runtime, workload, number of workers
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Note:
    text: str  # {docs} is the way to the folder docs/
    workloads: frozenset[str]
    runtimes: frozenset[str]
    threads: int = 0  # 0: any number

    def holds(self, shown: Shown) -> bool:
        runtime, workload, threads = shown
        return (
            runtime in self.runtimes and workload in self.workloads and self.threads in (0, threads)
        )

    def plain(self) -> str:
        """Without links."""
        return LINK.sub(r"\1", self.text)


CALLED = Note(
    "A fiber of Sennit in {workloads} has not begun when it is joined, so the joiner calls it on "
    "the joiner's own stack. Such a fiber has no stack of its own and makes no switch; only a "
    "stolen fiber gets a stack. skynet-receive, skynet-rendezvous and fiber-create-block in "
    "[scaling.md]({docs}scaling.md) have fibers that wait.",
    frozenset({"skynet-channel", "fiber-create", "create"}),
    frozenset({"sennit-fiber", "sennit-fiber-tcmalloc"}),
)
ELIDED = Note(
    "With one worker, the locks of Sennit need no locked instructions ([One worker "
    "alone]({docs}guide/runtime.md#one-worker-alone)), which makes its rows of one worker faster "
    "in {workloads}. A second worker that is awake ends that: mutex-each and channel-each in "
    "[scaling.md]({docs}scaling.md) have the cost with more workers.",
    frozenset(
        {
            "skynet-channel",
            "channel-rendezvous",
            "channel-buffered",
            "mutex",
            "mutex-free",
            "mutex-contended",
            "mutex-each",
            "channel-each",
            "condition",
            "select-two",
            "cycle",
            "churn",
            "monitor-1",
            "monitor-2",
            "monitor-4",
            "signal-1",
            "signal-2",
            "signal-4",
            "accept-1",
            "accept-2",
            "accept-4",
        }
    ),
    frozenset(name for name, runtime in RUNTIMES.items() if runtime.ours),
    1,
)
ALONE = Note(
    "A fiber that yields while no other fiber is ready makes no switch ({workloads}); fiber-yield "
    "has two fibers, which switch.",
    frozenset({"yield"}),
    frozenset({"sennit-fiber"}),
)
NOTES = (CALLED, ELIDED, ALONE)


def _in_words(names: Iterable[str]) -> str:
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def footnote(rows: Iterable[Shown], docs: str | None = "") -> str:
    """One paragraph for a table that shows these rows, or nothing; without `docs` it has no
    links."""
    rows = list(rows)
    found = []
    for note in NOTES:
        workloads = [shown[1] for shown in rows if note.holds(shown)]
        if workloads:
            text = note.plain() if docs is None else note.text
            found.append(text.format(workloads=_in_words(workloads), docs=docs))
    return " ".join(found)


def for_page() -> list[dict]:
    """The notes for RESULTS.html, which chooses those of its rows."""
    return [
        {
            "text": note.plain(),
            "runtimes": sorted(note.runtimes),
            "workloads": sorted(note.workloads),
            "threads": note.threads,
        }
        for note in NOTES
    ]
