# SPDX-License-Identifier: Apache-2.0
"""Shows that tests/run distinguishes a failure, a missing tool and a wrong name from success."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "run"

FAKE_CTEST = """#!/bin/sh
echo '100% tests passed, 0 tests failed out of 3'
"""


def load_run():
    loader = importlib.machinery.SourceFileLoader("matrix_run", str(RUN))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("matrix_run", loader))
    sys.modules["matrix_run"] = module  # dataclasses look up their module
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        for tool in ("cmake", "ninja"):
            self.tool(tool, "#!/bin/sh\n")
        self.tool("ctest", FAKE_CTEST)

    def tool(self, name, text):
        (self.path / name).write_text(text)
        (self.path / name).chmod(0o755)

    def compilers(self):
        for name in ("g++", "clang++-19"):
            self.tool(name, "#!/bin/sh\n")

    def run_it(self, *arguments):
        return subprocess.run(
            [sys.executable, RUN, *arguments],
            env={"PATH": str(self.path)},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_run_ends_with_sum_of_all_tests(self):
        self.compilers()
        result = self.run_it("--stages", "release-gcc,stress")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("100% tests passed, 0 tests failed out of 6", result.stdout.splitlines()[-1])

    def test_first_failure_ends_run(self):
        self.compilers()
        for tool, words in (("cmake", "configuring failed"), ("ctest", "testing failed")):
            with self.subTest(tool):
                self.tool(tool, "#!/bin/sh\nexit 8\n")
                result = self.run_it("--stages", "release-gcc,stress")
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"FAILED: stage release-gcc: {words}", result.stderr)
                self.assertNotIn("== stress", result.stdout)
                self.tool(tool, "#!/bin/sh\n")

    def test_failure_ends_build_that_runs_beside_it(self):
        self.compilers()
        self.tool("cmake", '#!/bin/sh\ncase "$*" in *--build*stress*) /bin/sleep 600;; esac\n')
        self.tool("ctest", "#!/bin/sh\nexit 8\n")
        result = self.run_it("--stages", "release-gcc,stress")
        self.assertIn("FAILED: stage release-gcc: testing failed", result.stderr)

    def test_termination_ends_child_processes(self):
        self.compilers()
        self.tool("cmake", "#!/bin/sh\necho begun; /bin/sleep 600\n")
        with subprocess.Popen(
            [sys.executable, RUN, "--stages", "stress"],
            env={"PATH": str(self.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            self.assertIn("begun", running.stdout.readline())
            running.terminate()
            self.assertIn("terminated", running.communicate(timeout=60)[1])

    def test_failing_later_build_is_named(self):
        self.compilers()
        self.tool("cmake", '#!/bin/sh\ncase "$*" in *--build*stress*) exit 3;; esac\n')
        result = self.run_it("--stages", "release-gcc,stress")
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED: stage stress: building failed with status 3", result.stderr)

    def test_missing_closing_line_of_ctest_is_failure(self):
        self.compilers()
        self.tool("ctest", "#!/bin/sh\n")
        self.assertIn("closing line", self.run_it("--stages", "stress").stderr)

    def test_missing_tool_fails_unless_allowed(self):
        self.tool("g++", "#!/bin/sh\n")
        result = self.run_it("--stages", "release-gcc,tsan")
        self.assertEqual(result.returncode, 1)
        self.assertIn("clang++-19 is not installed", result.stderr)
        result = self.run_it("--stages", "release-gcc,tsan", "--allow-missing")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"tsan +skipped: clang\+\+-19")

    def test_run_without_any_stage_is_failure(self):
        self.assertEqual(self.run_it("--stages", "tsan", "--allow-missing").returncode, 1)

    def test_unknown_stage_is_named(self):
        result = self.run_it("--stages", "stres")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no stage is named stres", result.stderr)

    def test_every_stage_has_a_preset(self):
        presets = (RUN.parent.parent / "CMakePresets.json").read_text()
        for stage in load_run().STAGES:
            self.assertIn(f'"name": "{stage.preset}"', presets)


if __name__ == "__main__":
    unittest.main()
