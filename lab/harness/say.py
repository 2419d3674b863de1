# SPDX-License-Identifier: Apache-2.0
"""Lines for whoever looks on. A terminal that was closed, or a pipe that nobody reads, does not end a bench."""

import contextlib
import os
import sys
from typing import TextIO


def put(text: str, stream: TextIO) -> None:
    """Writes and flushes. Once that fails, all that goes there is dropped, also when this process ends."""
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


def say(text: str, stream: TextIO | None = None) -> None:
    """A line, on standard output."""
    put(f"{text}\n", stream or sys.stdout)


def warn(text: str) -> None:
    """A line on standard error."""
    say(text, sys.stderr)
