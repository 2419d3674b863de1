# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""

import contextlib
import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))

from harness import cli  # noqa: E402
from harness.build import NotInstalled  # noqa: E402

SENNIT = ROOT / "sennit"
FAKE = Path(__file__).with_name("fake_runtime.py")


def fake(behaviour):
    return [sys.executable, str(FAKE), behaviour]


def is_alive(pid):
    """Whether the process runs: one that waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] not in "ZX"


class FakeBuilder:
    """Instead of harness.build.Builder: runtime -> behaviour of the fake; one that is not named is not installed."""

    def __init__(self, behaviours):
        self.behaviours = behaviours
        self.versions = {}

    def command(self, name):
        if name not in self.behaviours:
            raise NotInstalled("no such library")
        return fake(self.behaviours[name])

    check = command


def call(*arguments):
    """(status, lines of standard output, lines of standard error) of the harness in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(list(arguments))
    return status, out.getvalue().splitlines(), err.getvalue().splitlines()
