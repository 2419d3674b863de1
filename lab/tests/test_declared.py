# SPDX-License-Identifier: Apache-2.0
"""Tests of the declarations of runtimes and workloads: a new runtime needs only a folder, and a
mistake in it gives one clear line.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import ROOT, FakeBuilder, call
from harness import declared
from harness.answers import expected
from harness.catalogue import FAMILIES, RUNTIMES, WORKLOADS
from harness.declared import UsageError

HARE = {"title": '"Hare"', "language": '"C++"', "workloads": '["forks"]', "threads": '"hare::pool"'}
RUN = {"default": '"9"', "quick": '"5"', "small": '"3"', "range": "[1, 10]"}
BAD_RUNTIMES = {
    "has no 'title'": {"title": None},
    "unknown key 'tilte'": {"tilte": '"Hare"'},
    "'workloads' must be a list, not 'forks'": {"workloads": '"forks"'},
    "no workload is called 'fobs'": {"workloads": '["fobs"]'},
    "needs either 'threads' or 'program'": {"threads": None},
    "its program is that of 'tortoise', which has none": {"threads": None, "program": '"tortoise"'},
    "Invalid value": {"title": "Hare"},
    "'workloads' must hold texts only, not [1]": {"workloads": "[1]"},
    "'environment' must hold texts only, not {'SPEED': 3}": {"environment": "{SPEED = 3}"},
}
BAD_WORKLOADS = {
    "run has no 'small'": {"small": None},
    "run has the unknown key 'sizes'": {"sizes": "[1]"},
    "run needs either 'range' or 'names'": {"range": None},
    "run: size must be a number from 1 to 10, not '11'": {"quick": '"11"'},
    "run: size must be a power of two, not '9'": {"powers_of": "2"},
    "'powers_of' must be one of 2, 10, not 1": {"powers_of": "1"},
    "'powers_of' must be a int, not True": {"powers_of": "true"},
    "'range' must be two numbers, not [1]": {"range": "[1]"},
    "'range' must be two numbers, not ['a', 'b']": {"range": '["a", "b"]'},
    "'full' must hold texts only, not [3]": {"full": "[3]"},
    "'figures' must hold texts only, not [3]": {"figures": "[3]"},
    "run: lab/clients has no folder 'cart'": {"client": '"cart"'},
}
SHARED = {"java", "rust"}  # sources of several runtimes


def text_of(entries, changes=()):
    return "".join(
        f"{key} = {value}\n"
        for key, value in {**entries, **dict(changes)}.items()
        if value is not None
    )


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.lab = Path(folder.name)
        self.write("workloads/forks.toml", "[run]\n" + text_of(RUN))

    def write(self, place, text):
        (self.lab / place).parent.mkdir(parents=True, exist_ok=True)
        (self.lab / place).write_text(text)

    def read(self):
        families = declared.families(self.lab)
        return families, declared.runtimes(families, self.lab)

    def test_new_runtime_and_new_family_need_only_folder(self):
        self.write(
            "workloads/jumps/jumps.toml", "[hop]\n" + text_of(RUN) + "[leap]\n" + text_of(RUN)
        )
        self.write("runtimes/hare/runtime.toml", text_of(HARE, {"workloads": '["jumps", "run"]'}))
        self.write(
            "runtimes/hare-fast/runtime.toml",
            text_of(
                HARE, {"threads": None, "program": '"hare"', "environment": '{SPEED = "high"}'}
            ),
        )
        families, runtimes = self.read()
        self.assertEqual(
            {name: list(family) for name, family in families.items()},
            {"forks": ["run"], "jumps": ["hop", "leap"]},
        )
        self.assertEqual(runtimes["hare"].offers, ("hop", "leap", "run"))
        self.assertEqual(
            (runtimes["hare-fast"].program, runtimes["hare-fast"].environment),
            ("hare", ("SPEED=high",)),
        )

    def test_mistake_gives_one_clear_line_that_names_file(self):
        for message, changes in BAD_RUNTIMES.items():
            with self.subTest(message):
                self.write("runtimes/hare/runtime.toml", text_of(HARE, changes))
                with self.assertRaises(UsageError) as caught:
                    self.read()
                self.assertIn(message, str(caught.exception))
                self.assertIn("hare", str(caught.exception))
                self.assertNotIn("\n", str(caught.exception))
        self.write("runtimes/hare/runtime.toml", text_of(HARE))
        for message, changes in BAD_WORKLOADS.items():
            with self.subTest(message):
                self.write("workloads/forks.toml", "[run]\n" + text_of(RUN, changes))
                with self.assertRaises(UsageError) as caught:
                    self.read()
                self.assertIn(message, str(caught.exception))

    def test_one_name_for_two_workloads_is_refused(self):
        for place, text in (("workloads/jumps.toml", "[run]\n"), ("workloads/run.toml", "[hop]\n")):
            with self.subTest(place):
                self.write(place, text + text_of(RUN))
                with self.assertRaisesRegex(UsageError, "the name 'run' is given to two"):
                    self.read()
                (self.lab / place).unlink()

    def test_program_prints_line_and_fails(self):
        self.write("workloads/forks.toml", "[run]\n")
        code = (
            "from harness import declared; from pathlib import Path; "
            f"declared.LAB = Path({str(self.lab)!r}); "
            "declared.families.__defaults__ = (declared.LAB,); import runpy; "
            "runpy.run_module('harness', run_name='__main__')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT / "lab", text=True, capture_output=True
        )
        self.assertEqual(
            (done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr
        )
        self.assertIn("run has no 'default'", done.stderr)


class TheLab(unittest.TestCase):
    def test_every_folder_with_program_declares_runtime_and_vice_versa(self):
        folders = {path.name for path in (ROOT / "lab" / "runtimes").iterdir() if path.is_dir()}
        self.assertEqual(folders - SHARED, set(RUNTIMES))
        for name, runtime in RUNTIMES.items():
            with self.subTest(name):
                source = "main.cpp" if runtime.language == "C++" else "build.sh"
                self.assertTrue(
                    (ROOT / "lab" / "runtimes" / (runtime.program or name) / source).is_file()
                )

    def test_every_workload_has_answer_and_runtime(self):
        for name, workload in WORKLOADS.items():
            with self.subTest(name):
                self.assertIsInstance(expected(name, workload.small), int)
                self.assertTrue(any(name in runtime.offers for runtime in RUNTIMES.values()))

    def test_family_contains_its_workloads(self):
        self.assertEqual(list(FAMILIES)[0], "forks")
        self.assertGreaterEqual(len(FAMILIES["savina"]), 12)

    def test_list_prints_versions(self):
        builder = FakeBuilder({"onetbb": "good", "go": "good"})
        builder.versions = {"onetbb": "2021.8.0"}
        with mock.patch("harness.cli.Builder", lambda compiler: builder):
            _, out, _ = call("list")
        lines = {line.split()[0]: line for line in out if line.startswith("  ")}
        self.assertTrue(lines["onetbb"].endswith("available 2021.8.0"), lines["onetbb"])
        self.assertTrue(lines["go"].endswith("available"), lines["go"])


if __name__ == "__main__":
    unittest.main()
