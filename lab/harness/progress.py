# SPDX-License-Identifier: Apache-2.0
"""What is shown on standard error while runs go on: a bar on a terminal that has rich, else plain lines, or one line a block."""

import sys
from contextlib import suppress
from typing import Self, TextIO

from .say import put, say

try:
    import rich.console
    import rich.progress
except ImportError:  # it only makes the output nicer
    rich = None


def in_words(seconds: float | None) -> str:
    """A time that is left, as coarse as it is known."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 90 else f"about {minutes / 60:.1f} h left"


class Lines:
    """A line a run; on a terminal one line that is rewritten. `most` is the number of blocks that there can be where each holds all
    cells; of a run with a budget there may be more."""

    def __init__(self, most: int, stream: TextIO | None = None) -> None:
        self.most, self.number, self.stream = most, 0, stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.left = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._rewrite("")

    def _rewrite(self, text: str) -> None:
        if self.terminal:
            put(f"\r\x1b[K{text}", self.stream)

    def block(self, number: int) -> None:
        self.number, self.most = number, max(self.most, number)

    def begin(self, what: str, left: float | None = None) -> None:
        self.left = in_words(left)
        self._rewrite(f"[{self.number}/{self.most}] {what} ... {self.left}")

    def end(self, what: str, result: str) -> None:
        self._rewrite("")
        left = f" ({self.left})" if self.left else ""
        say(f"[{self.number}/{self.most}]{left} {what}: {result}", self.stream)


class Quiet(Lines):
    """For logs: a line a block, and one for each run that gave no time."""

    def block(self, number: int) -> None:
        super().block(number)
        left = f", {self.left}" if self.left else ""
        say(f"block {number} of at most {self.most}{left}", self.stream)

    def _rewrite(self, text: str) -> None:
        pass

    def end(self, what: str, result: str) -> None:
        if not result[:1].isdigit() and not result.startswith("skipped"):
            say(f"{what}: {result}", self.stream)


class Bar:
    """rich's bar below the lines of the runs that are over; it counts blocks. A terminal that was closed does not matter."""

    def __init__(self, most: int) -> None:
        columns = (rich.progress.BarColumn(), rich.progress.MofNCompleteColumn(), rich.progress.TimeElapsedColumn(),
                   rich.progress.TextColumn("{task.description}", markup=False))
        self.most = most
        self.bar = rich.progress.Progress(*columns, console=rich.console.Console(stderr=True))
        self.task = self.bar.add_task("", total=most)

    def __enter__(self) -> Self:
        with suppress(OSError):
            self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(OSError):
            self.bar.stop()

    def block(self, number: int) -> None:
        self.most = max(self.most, number)
        with suppress(OSError):
            self.bar.update(self.task, completed=number - 1, total=self.most)

    def begin(self, what: str, left: float | None = None) -> None:
        with suppress(OSError):
            self.bar.update(self.task, description=f"{what}  {in_words(left)}")

    def end(self, what: str, result: str) -> None:
        with suppress(OSError):
            self.bar.console.print(f"{what}: {result}", markup=False, highlight=False)


Shown = Lines | Bar
quiet = False  # set by --quiet-log


def progress(most: int) -> Shown:
    return Quiet(most) if quiet else Bar(most) if rich and sys.stderr.isatty() else Lines(most)
