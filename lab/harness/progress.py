# SPDX-License-Identifier: Apache-2.0
"""Shows on standard error how a run proceeds: a bar below the results on a terminal, else lines."""

import sys
from typing import Self, TextIO, cast

import rich.console
import rich.progress

from .say import Unbreakable


def in_words(seconds: float | None) -> str:
    """A time that is left, as coarse as it is known."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 90 else f"about {minutes / 60:.1f} h left"


class Shown:
    """A line for each run, and on a terminal a bar that counts blocks. Quiet: a line for each
    block, and for each run without a time.

    `most` is the number of blocks if each holds all cells. A run with a budget may have more.
    """

    def __init__(self, most: int, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.most, self.quiet, self.number, self.left = most, quiet, 0, ""
        self.console = rich.console.Console(
            file=cast(TextIO, Unbreakable(stream or sys.stderr)), highlight=False, markup=False
        )
        self.bar = rich.progress.Progress(
            rich.progress.BarColumn(),
            rich.progress.MofNCompleteColumn(),
            rich.progress.TimeElapsedColumn(),
            rich.progress.TextColumn("{task.description}", markup=False),
            console=self.console,
            disable=quiet or not self.console.is_terminal,
        )
        self.task = self.bar.add_task("", total=most)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def _line(self, text: str) -> None:
        self.console.print(text, soft_wrap=True)

    def block(self, number: int) -> None:
        self.number, self.most = number, max(self.most, number)
        self.bar.update(self.task, completed=number - 1, total=self.most)
        if self.quiet:
            self._line(
                f"block {number} of at most {self.most}" + (f", {self.left}" if self.left else "")
            )

    def begin(self, what: str, left: float | None = None) -> None:
        self.left = in_words(left)
        self.bar.update(self.task, description=f"{what}  {self.left}")

    def end(self, what: str, result: str) -> None:
        if not self.quiet:
            left = f" ({self.left})" if self.left and self.bar.disable else ""
            number = f"[{self.number}/{self.most}]{left} " if self.bar.disable else ""
            self._line(f"{number}{what}: {result}")
        elif not result[:1].isdigit() and not result.startswith("skipped"):
            self._line(f"{what}: {result}")


quiet = False  # set by --quiet-log


def progress(most: int) -> Shown:
    return Shown(most, quiet)
