# SPDX-License-Identifier: Apache-2.0
"""The common parts of the tests: the harness, a fake builder, and calls of the command."""

import contextlib
import io
import sys
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))

from harness.install import LIBRARIES, python_with_libraries  # noqa: E402

if python_with_libraries() != sys.executable:
    sys.exit(
        f"the lab's tests need a Python that has {', '.join(LIBRARIES)}; ./sennit test installs "
        f"them: {' '.join(LIBRARIES.values())}"
    )

from harness import cli, options, parser  # noqa: E402
from harness.build import NotInstalled  # noqa: E402

SENNIT = ROOT / "sennit"
FAKE = Path(__file__).with_name("fake_runtime.py")


def fake(behaviour):
    return [sys.executable, str(FAKE), behaviour]


def is_alive(pid):
    """Whether the process runs. A process that waits to be reaped does not run."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] not in "ZX"


class FakeBuilder:
    """Replaces harness.build.Builder. `behaviours` gives the behaviour of the fake program of each
    runtime. A runtime without an entry is not installed.
    """

    def __init__(self, behaviours):
        self.behaviours = behaviours
        self.versions = {}

    def command(self, name):
        if name not in self.behaviours:
            raise NotInstalled("no such library")
        return fake(self.behaviours[name])

    def client(self, name):
        """A client that gives the words behind it to the program."""
        return ["env", f"FAKE_CLIENT={name}"]

    check = command


INSTALLERS = ("setup", "ensure_build_tools", "install_charts", "restart_with_libraries")


@contextlib.contextmanager
def without_installers():
    """A context in which the command installs nothing."""
    with contextlib.ExitStack() as patches:
        for name in INSTALLERS:
            patches.enter_context(mock.patch(f"harness.install.{name}"))
        yield


def call(*arguments):
    """Runs the command in this process, without installing anything. Returns (status, lines of
    standard output, lines of standard error).
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), without_installers():
        status = cli.main(list(arguments))
    return status, out.getvalue().splitlines(), err.getvalue().splitlines()


def parsed(*arguments):
    """The options of a bench, as values."""
    given = parser.parse(["bench", *arguments])
    options.check(given)
    return given
