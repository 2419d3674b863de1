# SPDX-License-Identifier: Apache-2.0
"""What is shown on standard error while runs go on: a bar on a terminal that has rich, else plain lines."""

import sys

try:
    import rich.console
    import rich.progress
except ImportError:  # it only makes the output nicer
    rich = None


class Lines:
    """A line a run; on a terminal one line that is rewritten."""

    def __init__(self, total, stream=None):
        self.total, self.done, self.stream = total, 0, stream or sys.stderr
        self.terminal = self.stream.isatty()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._rewrite("")

    def _rewrite(self, text):
        if self.terminal:
            self.stream.write(f"\r\x1b[K{text}")
            self.stream.flush()

    def begin(self, what):
        self._rewrite(f"[{self.done + 1}/{self.total}] {what} ...")

    def end(self, what, result):
        self.done += 1
        self._rewrite("")
        print(f"[{self.done}/{self.total}] {what}: {result}", file=self.stream, flush=True)


class Bar:
    """rich's bar below the lines of the runs that are over."""

    def __init__(self, total):
        columns = (rich.progress.BarColumn(), rich.progress.MofNCompleteColumn(), rich.progress.TimeElapsedColumn(),
                   rich.progress.TextColumn("{task.description}", markup=False))
        self.bar = rich.progress.Progress(*columns, console=rich.console.Console(stderr=True))
        self.task = self.bar.add_task("", total=total)

    def __enter__(self):
        self.bar.start()
        return self

    def __exit__(self, *exception):
        self.bar.stop()

    def begin(self, what):
        self.bar.update(self.task, description=what)

    def end(self, what, result):
        self.bar.console.print(f"{what}: {result}", markup=False, highlight=False)
        self.bar.advance(self.task)


def progress(total):
    return Bar(total) if rich and sys.stderr.isatty() else Lines(total)
