# SPDX-License-Identifier: Apache-2.0
"""Tests of further figures: a workload declares them, a program prints them, the results keep them,
and the tables show their medians.
"""

import csv
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import lab_case  # noqa: F401  (finds the harness)
from harness import figures
from harness.bench import Cell, Plan, Run, run_plan
from harness.document import load, restore
from harness.execute import Failed, run_once
from harness.marks import uses_one_cpu
from harness.report import write_files
from harness.table import Results, plain
from example_results import ABOUT

LINE = {"answer": 9, "seconds": 0.5, "cpu_seconds": 0.1, "tasks": 9, "peak_rss_kib": 10}
LATE = {"late_us_p50": 3.5, "late_us_p99": 20.0}


def print_line(line):
    return [sys.executable, "-c", f"print({json.dumps(line)!r})"]


def cell_of(runtime, *values):
    cell = Cell(runtime, "timer-lateness", "9", 1)
    for block, value in enumerate(values):
        cell.samples.append(
            LINE | {"figures": {"late_us_p50": value}, "block": block, "position": 0}
        )
    return cell


class Figures(unittest.TestCase):
    def test_declared_figures_are_kept_and_others_dropped(self):
        result = run_once(print_line(LINE | LATE | {"mood": 3}), "go", "timer-lateness", "9", 1)
        self.assertEqual(result["figures"], LATE)
        result = run_once(print_line(LINE | LATE), "go", "sleepers", "9", 1)
        self.assertNotIn("figures", result)

    def test_missing_or_bad_figure_is_no_result(self):
        for change in ({"late_us_p99": None}, {"late_us_p99": -1}, {"late_us_p99": "many"}):
            with self.subTest(change), self.assertRaisesRegex(Failed, "printed no result"):
                run_once(print_line(LINE | LATE | change), "go", "timer-lateness", "9", 1)
        with self.assertRaisesRegex(Failed, "printed no result"):
            run_once(print_line(LINE), "go", "timer-lateness", "9", 1)

    def test_table_has_medians_and_least_first(self):
        cells = [cell_of("go", 30.0, 10.0, 20.0), cell_of("tokio", 5.0, 6.0), cell_of("may")]
        ((title, rows),) = figures.tables(cells)
        self.assertEqual(title, "timer-lateness(9)")
        self.assertEqual(rows[0], ["runtime", "samples", "seconds", "late_us_p50"])
        self.assertEqual([row[1] for row in rows[1:]], ["2", "3"])
        self.assertEqual([row[3] for row in rows[1:]], ["5.5", "20"])
        self.assertEqual(figures.tables([Cell("go", "fib", "9", 1, samples=[LINE])]), [])

    def test_files_and_terminal_show_figures(self):
        run = Run([cell_of("go", 30.0, 10.0, 20.0)], [{"sentinel": [1.0], "noisy": False}] * 3)
        run.state = "complete"
        plan = Plan(["go"], [("timer-lateness", "9")], [1], 3, 1, 5.0)
        with tempfile.TemporaryDirectory() as folder:
            write_files(run, plan, dict(ABOUT), Path(folder))
            restored = restore(load(folder))[0]
            text = Path(folder, "RESULTS.md").read_text()
            with open(Path(folder, "RESULTS.csv"), newline="") as file:
                row = next(csv.DictReader(file))
        self.assertEqual(
            [sample["figures"]["late_us_p50"] for sample in restored.cells[0].samples],
            [30.0, 10.0, 20.0],
        )
        self.assertIn("| Go, 1 worker | 3 | 0.5 | 20 |", text)
        self.assertEqual(row["figures"], "late_us_p50=20")
        self.assertIn("late_us_p50", plain(Results(run.cells), 100))


class Clients(unittest.TestCase):
    def bench(self, finder, workload="io-echo-1"):
        plan = Plan(["go"], [(workload, "9")], [2], 1, 1, 5.0)
        with (
            mock.patch("harness.bench.run_once", self.once),
            mock.patch("harness.bench.sentinel", lambda: None),
        ):
            return run_plan(plan, finder)

    def once(self, command, *_):
        self.commands.append(command)
        return LINE | {"ok": True}

    def setUp(self):
        self.commands = []

    def test_client_stands_before_program_of_its_workloads_only(self):
        finder = lab_case.FakeBuilder({"go": "good"})
        program = finder.command("go")
        self.assertEqual(self.bench(finder)[0].status, "ok")
        self.bench(finder, "fiber-yield")
        self.assertEqual(self.commands, [["env", "FAKE_CLIENT=io", *program], program])

    def test_missing_client_is_reason_of_its_cells(self):
        finder = lab_case.FakeBuilder({"go": "good"})
        finder.client = mock.Mock(side_effect=lab_case.NotInstalled("client-io does not build"))
        cell = self.bench(finder)[0]
        self.assertEqual((cell.status, cell.reason), ("not installed", "client-io does not build"))

    def test_server_is_not_marked_for_cpus_that_its_load_does_not_need(self):
        sample = [{"cpu_seconds": 0.5, "seconds": 1.0}] * 6
        self.assertTrue(uses_one_cpu("fib", 2, sample))
        self.assertFalse(uses_one_cpu("io-echo-16", 2, sample))


if __name__ == "__main__":
    unittest.main()
