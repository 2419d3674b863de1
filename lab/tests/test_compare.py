# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench compare`: paired ratios of two builds, ratios of the medians of two files, and no
verdict where the samples show no difference.
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import FAKE, call
from harness.bench import Cell, Plan, Run
from harness.compare import programs, verdict
from harness.build import NotInstalled
from harness.document import document, save
from harness.stats import Comparison, compare, compare_medians
from test_results import ABOUT, sample


class Ratios(unittest.TestCase):
    def test_ratio_within_blocks_ignores_slow_block(self):
        theirs = {0: 1.0, 1: 2.0, 2: 4.0, 3: 1.0, 4: 8.0, 5: 2.0}
        ours = {block: 1.1 * seconds for block, seconds in theirs.items()}
        found = compare(ours, theirs)
        self.assertEqual((found.paired, found.same), (True, False))
        for value in (found.ratio, *found.interval):
            self.assertAlmostEqual(value, 1.1)
        self.assertTrue(
            compare_medians(list(ours.values()), list(theirs.values())).same
        )  # unpaired samples show no difference

    def test_fewer_than_six_common_blocks_give_no_verdict(self):
        ours, theirs = dict.fromkeys(range(5), 2.0), dict.fromkeys(range(9), 1.0)
        self.assertEqual(compare(ours, theirs), (2.0, None, True))
        self.assertIsNone(compare(ours, theirs).same)

    def test_ratio_without_common_blocks_is_that_of_medians(self):
        self.assertEqual(
            compare(dict.fromkeys(range(6), 2.0), dict.fromkeys(range(6, 12), 1.0)),
            (2.0, (2.0, 2.0), False),
        )
        self.assertIsNone(compare({}, {0: 1.0}))

    def test_verdict_names_faster_side_or_no_difference(self):
        found = ((0.9, (0.88, 0.92)), (1.1, (1.05, 1.2)), (1.1, (0.9, 1.2)), (2.0, None))
        self.assertEqual(
            [verdict(Comparison(*one, True)) for one in found],
            [
                "B is 10.0% faster",
                "B is 10.0% slower",
                "no difference shown",
                "fewer than 6 samples cannot tell",
            ],
        )


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def results(self, name, *times):
        cells = [
            Cell(
                "sennit",
                "fib",
                "30",
                2,
                [sample(value, block) for block, value in enumerate(times)],
            )
        ]
        path = self.folder / name
        path.mkdir()
        save(
            document(
                Run(cells, [], "complete"),
                Plan(["sennit"], [("fib", "30")], [2], None, 1, 5.0),
                ABOUT,
            ),
            path / "RESULTS.json",
        )
        return str(path)

    def test_compare_reports_ratio_of_two_files(self):
        first, second = (
            self.results("a", *[1.0, 1.01, 1.0] * 2),
            self.results("b", *[0.5, 0.51, 0.5] * 2),
        )
        status, out, err = call("bench", "compare", first, second)
        self.assertEqual((status, err), (0, []))
        self.assertTrue(
            any("0.500" in line and line.endswith("B is 50.0% faster") for line in out), out
        )
        _, out, _ = call("bench", "compare", first, first)
        self.assertTrue(any(line.endswith("no difference shown") for line in out), out)

    def test_few_samples_give_ratio_without_interval_or_verdict(self):
        _, out, _ = call(
            "bench", "compare", self.results("a", *[1.0] * 5), self.results("b", *[0.5] * 5)
        )
        self.assertTrue(
            any(
                line.endswith("0.500              –  fewer than 6 samples cannot tell")
                for line in out
            ),
            out,
        )
        self.assertIn("holds 1, which takes 6 samples of both", out[-1])

    def build(self, name, behaviour):
        program = self.folder / name / "lab" / "lab-sennit"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} {behaviour} "$@"\n')
        program.chmod(0o755)
        return str(self.folder / name)

    def test_compare_measures_two_builds_in_same_blocks(self):
        first, second = self.build("a", "good"), self.build("b", "good")
        with mock.patch("harness.compare.jobs_for", lambda *_: [("fib", "30")]):
            status, out, err = call(
                "bench", "compare", first, second, "--reps", "6", "--threads", "1", "--seed", "5"
            )
        self.assertEqual(status, 0, err)
        self.assertTrue(
            any("1.000 to 1.000" in line and line.endswith("no difference shown") for line in out),
            out,
        )
        self.assertTrue(any(line.startswith("the ratio within blocks") for line in out), out)

    def test_failing_build_is_named(self):
        first, second = self.build("a", "good"), self.build("b", "crash")
        with mock.patch("harness.compare.jobs_for", lambda *_: [("fib", "30")]):
            status, out, err = call(
                "bench", "compare", first, second, "--reps", "2", "--threads", "1"
            )
        self.assertEqual((status, err[-1]), (1, "sennit: A and B have no result in common"))
        self.assertTrue(
            any("Sennit of b" in line and "Segmentation fault" in line for line in out), out
        )

    def test_each_workload_runs_in_program_that_offers_it(self):
        first, second = self.build("a", "good"), self.build("b", "good")
        _, out, _ = call(
            "bench",
            "compare",
            first,
            second,
            "--workloads",
            "cycle,thread-ring,fib",
            "--quick",
            "--reps",
            "1",
            "--threads",
            "1",
        )
        for program in ("lab-sennit-fiber", "lab-sennit-actor"):
            self.assertTrue(any(f"holds neither {program}" in line for line in out), out)
        self.assertFalse(any("holds neither lab-sennit nor" in line for line in out), out)

    def test_folder_with_neither_program_nor_package_gives_reason(self):
        with self.assertRaisesRegex(
            NotInstalled, "holds neither lab-sennit nor an installed Sennit"
        ):
            programs(self.folder, "sennit")

    def test_bad_input_gives_one_clear_line(self):
        good = self.results("a", 1.0)
        Path(self.folder, "old.json").write_text(
            json.dumps({"format": "sennit-lab-results", "version": 99})
        )
        Path(self.folder, "empty").mkdir()
        for arguments, message in (
            ((good,), "required"),
            ((good, "/nowhere"), "there is no file or folder '/nowhere'"),
            ((good, str(self.folder / "empty")), "not one of each"),
            ((good, str(self.folder / "old.json")), "has version 99"),
            ((good, good, "--reps", "0"), "--reps must be a number"),
        ):
            with self.subTest(arguments):
                status, out, err = call("bench", "compare", *arguments)
                self.assertEqual((status, out, len(err)), (2, [], 1), err)
                self.assertIn(message, err[0])


if __name__ == "__main__":
    unittest.main()
