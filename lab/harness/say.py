# SPDX-License-Identifier: Apache-2.0
"""Prints lines for the user. A closed terminal, or a pipe without a reader, does not end a
bench.
"""

import contextlib
import os
import sys
from typing import TextIO


def put(text: str, stream: TextIO) -> None:
    """Writes and flushes. Once that fails, all that goes there is dropped, also when this
    process ends.
    """
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        _drop(stream)


def _drop(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


class Unbreakable:
    """A stream for rich that drops its text, where `put` would, instead of raising."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.encoding = stream, stream.encoding

    def write(self, text: str) -> int:
        put(text, self.stream)
        return len(text)

    def flush(self) -> None:
        pass  # put has flushed

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()


def say(text: str, stream: TextIO | None = None) -> None:
    """A line, on standard output."""
    put(f"{text}\n", stream or sys.stdout)


def warn(text: str) -> None:
    """A line on standard error."""
    say(text, sys.stderr)
