# SPDX-License-Identifier: Apache-2.0
"""Tests of the types of the harness. They need mypy in .venv: `.venv/bin/pip install -r
lab/requirements-dev.txt`.
"""

import importlib.util
import subprocess
import sys
import unittest

from lab_case import ROOT

CANDIDATES = [str(ROOT / ".venv" / "bin" / "python")] + (
    [sys.executable] if importlib.util.find_spec("mypy") else []
)


def with_mypy():
    for python in CANDIDATES:
        try:
            if (
                subprocess.run([python, "-m", "mypy", "--version"], capture_output=True).returncode
                == 0
            ):
                return python
        except OSError:
            pass  # without .venv there is no mypy
    return None


class Types(unittest.TestCase):
    def test_harness_passes_type_check(self):
        python = with_mypy()
        if not python:
            self.skipTest("mypy is not installed in .venv")
        done = subprocess.run(
            [
                python,
                "-m",
                "mypy",
                "--config-file",
                "lab/mypy.ini",
                "--cache-dir",
                "build/cache/mypy",
            ],
            cwd=ROOT,
            text=True,
            capture_output=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
