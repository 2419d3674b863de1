# SPDX-License-Identifier: Apache-2.0
"""`bench --scaling`: the rows of lab/scaling.toml, the counters of Sennit's programs, and
docs/scaling.md.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import FakeBuilder, call, parsed
from harness import scaling
from harness.answers import expected
from harness.bench import Cell, Plan, Run
from harness.build import Builder, NotInstalled
from harness.catalogue import FAMILIES, RUNTIMES, WORKLOADS, UsageError
from harness.document import document, problem, restore
from harness.execute import Failed, run_once
from harness.scaling_rows import THREADS, causes, chosen, rows
from test_results import ABOUT

COUNTERS = {"stacks": 20, "suspensions": 7, "crossings": 6, "steals": 4, "wakes": 2, "barriers": 1}


def cell(runtime, workload, size, threads, seconds, blocks=6, counters=None):
    samples = [
        {
            "seconds": seconds * (1 + block / 1000),
            "cpu_seconds": 1.5 * seconds,
            "tasks": 1000,
            "answer": 1,
            "peak_rss_kib": 4096,
            "block": block,
            "position": 0,
        }
        | ({"counters": counters} if counters else {})
        for block in range(blocks)
    ]
    return Cell(runtime, workload, size, threads, samples)


def lines_of(text, beginning):
    return [line for line in text.splitlines() if line.startswith(f"| {beginning}")]


class Description(unittest.TestCase):
    def test_every_row_names_a_runtime_and_one_of_its_workloads(self):
        self.assertTrue(rows())
        for row in rows():
            with self.subTest(row):
                self.assertIn(row.workload, RUNTIMES[row.runtime].offers)
                self.assertEqual(WORKLOADS[row.workload].check(row.size), row.size)

    def test_no_row_occurs_twice(self):
        keys = [(row.runtime, row.workload, row.size) for row in rows()]
        self.assertEqual(len(keys), len(set(keys)))

    def test_the_family_has_a_row_in_sennit_and_in_peers(self):
        for workload in FAMILIES["scaling"]:
            runtimes = {row.runtime for row in chosen([workload], RUNTIMES)}
            self.assertLessEqual({"sennit-fiber", "go", "tokio", "java-vt"}, runtimes, workload)
            self.assertTrue(any(name.startswith("boost-fiber") for name in runtimes), workload)

    def test_a_parallel_workload_gains_up_to_the_number_of_processors(self):
        row = next(row for row in rows() if row.workload == "pairs")
        self.assertEqual([row.ideal(count, 2) for count in (1, 2, 4)], [1, 0.5, 0.5])
        serial = next(row for row in rows() if row.workload == "thread-ring")
        self.assertEqual(serial.ideal(8, 8), 1)

    def test_answers(self):
        self.assertEqual(expected("skynet-rendezvous", "100"), 4950)
        self.assertEqual(expected("pool-1us", "100"), 4950)
        self.assertEqual(expected("pairs", "100"), 100)


class Causes(unittest.TestCase):
    def test_every_cause_belongs_to_a_row(self):
        keys = {(row.runtime, row.workload) for row in rows()}
        self.assertLessEqual(set(causes()), keys)
        self.assertTrue(causes())

    def losses(self, ratio, workload="churn"):
        cells = [
            cell("sennit-fiber", workload, "1000", threads, seconds)
            for threads, seconds in ((1, 0.1), (2, 0.1 * ratio), (4, 0.1))
        ]
        return scaling.losses(scaling.measured_rows(cells, 2))

    def test_a_loss_is_shown_with_its_cause(self):
        (line,) = self.losses(2)
        self.assertTrue(line.startswith("`churn(1000)`, Sennit fibers, W = 2: With one worker"))

    def test_a_loss_without_a_cause_says_so(self):
        (line,) = self.losses(2, "fiber-yield")
        self.assertTrue(line.endswith(scaling.UNKNOWN))

    def test_a_small_loss_needs_no_cause(self):
        self.assertEqual(self.losses(1.09), [])
        self.assertEqual(self.losses(0.5), [])


class Options(unittest.TestCase):
    def test_all_rows_with_one_two_four_and_eight_workers(self):
        given = parsed("--scaling")
        run, plan, which = scaling.begin(given)
        self.assertEqual(given.threads, list(THREADS))
        self.assertEqual((which, len(run.cells)), ("all", len(rows()) * len(THREADS)))
        self.assertLess(plan.budget, 15 * 60)

    def test_a_choice_is_no_whole_page_and_always_holds_one_worker(self):
        given = parsed("--scaling", "--workloads", "pairs,fib", "--runtimes", "sennit-fiber,sennit")
        self.assertEqual(scaling.begin(given)[2], "some")
        given = parsed("--scaling", "--workloads", "pairs", "--threads", "3", "--runtimes", "go")
        run, _, which = scaling.begin(given)
        self.assertEqual([one.threads for one in run.cells], [1, 3])
        self.assertEqual(which, "some")

    def test_quick_sizes_are_measured_once(self):
        run, _, which = scaling.begin(parsed("--scaling", "--quick"))
        keys = [(one.runtime, one.title, one.threads) for one in run.cells]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertIn(("sennit-fiber", "pairs(20000)", 8), keys)
        self.assertEqual(which, "some")

    def test_mistakes_get_one_line(self):
        with self.assertRaisesRegex(UsageError, "--scaling does not go with --full"):
            parsed("--scaling", "--full")
        with self.assertRaisesRegex(UsageError, "has none of these workloads"):
            parsed("--scaling", "--workloads", "monitor-1", "--runtimes", "sennit-monitor")


class Counters(unittest.TestCase):
    def run_program(self, counters):
        line = {"answer": 6765, "seconds": 1, "cpu_seconds": 1, "tasks": 1, "peak_rss_kib": 1}
        text = json.dumps(line | {"counters": counters})
        return run_once([sys.executable, "-c", f"print({text!r})"], "sennit", "fib", "20", 1)

    def test_a_run_passes_them_on(self):
        self.assertEqual(self.run_program(COUNTERS)["counters"], COUNTERS)

    def test_a_counter_that_is_no_number_is_no_result(self):
        for wrong in ({"wakes": -1}, {"wakes": "many"}, [1], 7):
            with self.subTest(wrong), self.assertRaisesRegex(Failed, "printed no result"):
                self.run_program(wrong)

    def test_they_are_asked_for_by_the_environment(self):
        finder = scaling.Counting(FakeBuilder({"go": "good"}))
        self.assertEqual(finder.command("go")[:2], ["env", "LAB_COUNTERS=1"])
        with self.assertRaises(NotInstalled):
            finder.command("tokio")

    def test_results_with_counters_satisfy_the_schema_and_come_back(self):
        run = Run([cell("sennit", "fib", "35", 2, 0.1, counters=COUNTERS)], [], "complete")
        results = json.loads(json.dumps(document(run, Plan([], [], [2], 6, 1, 5.0), ABOUT)))
        self.assertIsNone(problem(results))
        self.assertEqual(restore(results)[0].cells[0].samples[0]["counters"], COUNTERS)
        results["cells"][0]["samples"][0]["counters"]["wakes"] = "many"
        self.assertIn("counters", problem(results))

    @unittest.skipUnless(os.environ.get("SENNIT_LAB_BUILD"), "no programs are built")
    def test_the_programs_of_sennit_print_them_if_asked(self):
        command = Builder("g++").command("sennit-fiber")
        quiet = run_once(command, "sennit-fiber", "skynet-rendezvous", "100", 2)
        self.assertNotIn("counters", quiet)
        counted = run_once(
            ["env", "LAB_COUNTERS=1", *command], "sennit-fiber", "skynet-rendezvous", "100", 2
        )
        self.assertEqual(set(counted["counters"]), set(COUNTERS))
        self.assertGreaterEqual(counted["counters"]["suspensions"], 1)
        self.assertGreaterEqual(counted["counters"]["stacks"], 2)
        forks = run_once(
            ["env", "LAB_COUNTERS=1", *Builder("g++").command("sennit")], "sennit", "fib", "20", 2
        )
        self.assertEqual(set(forks["counters"]), set(COUNTERS))


class Page(unittest.TestCase):
    def page(self, *cells, about=ABOUT | {"cores": 2}):
        return scaling.markdown(Run(list(cells), [], "complete"), about)

    def test_the_largest_loss_comes_first(self):
        text = self.page(
            cell("sennit-fiber", "condition", "500000", 1, 0.1),
            cell("sennit-fiber", "condition", "500000", 2, 0.15),
            cell("sennit", "fib", "35", 1, 0.1),
            cell("sennit", "fib", "35", 2, 0.09),  # a loss of 1.8, since the ideal is a half
            cell("sennit", "nqueens", "12", 1, 0.1),
            cell("sennit", "nqueens", "12", 2, 0.05),
        )
        order = [text.index(name) for name in ("| fib", "| condition", "| nqueens")]
        self.assertEqual(order, sorted(order))
        self.assertEqual(
            lines_of(text, "condition"),
            ["| condition(500000) | Sennit fibers | 1 | 100250 | 1.50 | – | – | – | – | – |"],
        )

    def test_ratios_have_the_marks_of_the_other_tables(self):
        text = self.page(
            cell("sennit", "fib", "35", 1, 0.1),
            cell("sennit", "fib", "35", 2, 0.1),
            cell("sennit", "skynet", "7", 1, 0.1),
            cell("sennit", "skynet", "7", 2, 0.05, blocks=3),
        )
        self.assertIn("| 1.00 = |", lines_of(text, "fib")[0])
        self.assertIn("| 0.50 ? |", lines_of(text, "skynet")[0])

    def test_counts_are_for_a_thousand_operations_and_stacks_for_all(self):
        text = self.page(
            cell("sennit", "fib", "35", 1, 0.1, counters=COUNTERS | {"stacks": 3, "wakes": 0}),
            cell("sennit", "fib", "35", 2, 0.1, counters=COUNTERS | {"stacks": 12}),
        )
        self.assertIn("| 3 / 12 | 6 / 6 | 4 / 4 | 0 / 2 | 1 / 1 |", lines_of(text, "fib")[0])

    def test_few_and_many_counts_have_no_exponent(self):
        self.assertEqual(
            [scaling.short(value) for value in (0, 0.0001, 0.00123, 0.5, 9.94, 9.96, 123456.7)],
            ["0", "<0.001", "0.0012", "0.5", "9.9", "10", "123457"],
        )

    def test_peers_stand_beside_sennit_where_it_is_furthest_behind_first(self):
        text = self.page(
            cell("sennit-fiber", "pairs", "200000", 1, 0.1),
            cell("go", "pairs", "200000", 1, 0.2),
            cell("sennit-fiber", "pool-1us", "50000", 1, 0.3),
            cell("go", "pool-1us", "50000", 1, 0.2),
            cell("go", "pool-1us", "50000", 2, 0.1),
        )
        first = text.index("### pool-1us(50000): Sennit's best time ÷ the best peer's is 3.00")
        second = text.index("### pairs(200000): Sennit's best time ÷ the best peer's is 0.50")
        self.assertLess(first, second)
        self.assertLess(text.index("| Go |", first), text.index("| Sennit fibers |", first))

    def test_a_cell_without_a_result_says_why_and_its_row_comes_first(self):
        failed = Cell("sennit", "nqueens", "12", 2)
        failed.stop("DNF", "did not finish within 10 s")
        text = self.page(
            cell("sennit", "fib", "35", 1, 0.1),
            cell("sennit", "fib", "35", 2, 0.2),
            cell("sennit", "nqueens", "12", 1, 0.1),
            failed,
        )
        self.assertLess(text.index("| nqueens"), text.index("| fib"))
        self.assertIn("| DNF |", lines_of(text, "nqueens")[0])
        self.assertIn("did not finish within 10 s", text)

    def test_before_any_measurement_it_names_the_rows_and_says_so(self):
        run, _, _ = scaling.begin(parsed("--scaling"))
        text = scaling.markdown(run, {})
        self.assertIn("No figures yet", text)
        self.assertEqual(
            len(lines_of(text, "skynet-rendezvous(1000000)")), 1, "a row of Sennit alone"
        )
        self.assertIn("### pool-5us", text)

    def test_only_a_whole_plan_writes_the_page_of_the_project(self):
        run = Run([cell("sennit", "fib", "35", 1, 0.1)], [], "complete")
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "scaling.md")
            scaling.write_page(run, ABOUT | {scaling.ROWS: "some"}, Path(folder), page)
            self.assertFalse(page.exists())
            scaling.write_page(run, ABOUT | {scaling.ROWS: "all"}, Path(folder), page)
            self.assertEqual(page.read_text(), Path(folder, "SCALING.md").read_text())


class Command(unittest.TestCase):
    def test_it_measures_and_writes_the_table(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("harness.bench_verbs.Builder") as builder,
            mock.patch("harness.bench.sentinel", lambda: 0.01),
        ):
            builder.return_value = FakeBuilder({"sennit": "good"})
            status, out, err = call(
                "bench",
                "--scaling",
                "--workloads",
                "fib",
                "--reps",
                "1",
                "--threads",
                "2",
                "--out",
                folder,
            )
            self.assertEqual(status, 1, err)  # The fake knows fib(30), and the row has another.
            self.assertIn(f"written: {folder}/SCALING.md", out)
            text = Path(folder, "SCALING.md").read_text()
            self.assertIn("| wrong |", lines_of(text, "fib(35)")[0])
            self.assertIn("Sennit, 2 workers: fib(35): wrong answer 832040", text)


if __name__ == "__main__":
    unittest.main()
