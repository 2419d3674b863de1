# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""

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
        f"the lab's tests need a Python that has {', '.join(LIBRARIES)}; ./sennit test installs them: {' '.join(LIBRARIES.values())}"
    )

from harness import cli, options, parser  # noqa: E402
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
    """Instead of harness.build.Builder: runtime -> behaviour of the fake; one that is not named
    is not installed.
    """

    def __init__(self, behaviours):
        self.behaviours = behaviours
        self.versions = {}

    def command(self, name):
        if name not in self.behaviours:
            raise NotInstalled("no such library")
        return fake(self.behaviours[name])

    check = command


INSTALLERS = ("setup", "ensure_build_tools", "install_charts", "restart_with_libraries")


@contextlib.contextmanager
def without_installers():
    """The command installs nothing in this process."""
    with contextlib.ExitStack() as patches:
        for name in INSTALLERS:
            patches.enter_context(mock.patch(f"harness.install.{name}"))
        yield


def call(*arguments):
    """(status, lines of standard output, lines of standard error) of the command in this
    process, which installs nothing.
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
