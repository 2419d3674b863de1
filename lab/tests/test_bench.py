# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench`: every missing result has a reason, every ratio is the ratio of the medians, and
the command writes all of this to files.
"""

import csv
import itertools
import json
import math
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import FakeBuilder, call, parsed
from harness import bench
from harness.bench import Cell, Plan, cells_of, jobs_for
from harness.catalogue import FIBERS
from harness.table import Results, behind, plain, standings


def cell(runtime, threads, seconds, workload="fib", size="30"):
    return Cell(
        runtime,
        workload,
        size,
        threads,
        [
            {"seconds": value, "cpu_seconds": 2 * value, "tasks": 1, "peak_rss_kib": 1}
            for value in seconds
        ],
    )


def failed(runtime, status, reason, threads=2):
    result = Cell(runtime, "fib", "30", threads)
    result.stop(status, reason)
    return result


class Table(unittest.TestCase):
    def setUp(self):
        self.serial = cell("serial", 1, [2.0, 2.0, 2.1] * 2)
        self.ours = cell("sennit", 2, [1.0, 1.0, 1.1] * 2)
        self.alone = cell("sennit", 1, [2.5] * 6)
        self.best = cell("rayon", 2, [4.0] * 6)
        self.same = cell("go", 2, [3.9, 4.1, 4.2] * 2)
        self.results = Results(
            [
                self.serial,
                self.ours,
                self.alone,
                self.best,
                self.same,
                failed("citor", "DNF", "did not finish within 60 s"),
                failed("openmp", "wrong", "wrong answer 7"),
                failed("forte", "not installed", "no cargo"),
            ]
        )

    def test_ratio_divides_medians(self):
        ours = self.results.figures(self.ours)
        self.assertEqual((ours.seconds, ours.to_serial, ours.to_peer), (1.0, 0.5, 0.25))
        self.assertEqual((ours.same_as_peer, ours.is_best_peer), (False, False))

    def test_best_peer_is_neither_serial_nor_sennit(self):
        self.assertTrue(self.results.figures(self.best).is_best_peer)
        self.assertIsNone(self.results.figures(self.serial).to_peer)

    def test_row_is_not_compared_with_peer_that_has_more_workers(self):
        alone = self.results.figures(self.alone)
        self.assertEqual((alone.to_serial, alone.to_peer), (1.25, None))

    def test_row_is_compared_with_peer_that_has_fewer_workers(self):
        alone = cell("photon", 1, [0.5] * 6)
        results = Results([self.ours, self.best, alone])
        self.assertEqual(results.figures(self.ours).to_peer, 2.0)
        self.assertFalse(results.figures(self.best).is_best_peer)
        self.assertEqual([one.shown for one in behind(results)], ["2.00"])
        self.assertEqual([one.peer.label for one in standings(results)], ["Photon, 1 worker"])

    def test_workload_with_figures_is_compared_by_the_first_figure(self):
        def run(runtime, seconds, us):
            made = cell(runtime, 2, [seconds] * 6, "metg-fft")
            for sample in made.samples:
                sample["figures"] = {"metg_us": us}
            return made

        ours, slow, fast = run("sennit", 3.0, 0.2), run("go", 1.0, 0.9), run("onetbb", 2.0, 0.4)
        results = Results([ours, slow, fast])
        self.assertEqual((results.figures(ours).seconds, results.figures(ours).to_peer), (3.0, 0.5))
        self.assertTrue(results.figures(fast).is_best_peer)
        self.assertEqual(behind(results), [])

    def test_sennit_fiber_is_no_peer(self):
        ours, peer = (
            cell(name, 1, [seconds], "condition")
            for name, seconds in (("sennit-fiber", 1.0), ("go", 4.0))
        )
        results = Results([ours, peer])
        self.assertTrue(results.figures(peer).is_best_peer)
        self.assertEqual(results.figures(ours).to_peer, 0.25)

    def test_equals_sign_marks_missing_difference(self):
        self.assertTrue(self.results.figures(self.same).same_as_peer)
        row = next(row for row in self.results.rows(["fib(30)"]) if row[0].startswith("Go"))
        self.assertTrue(row[3].endswith(" ="), row)

    def test_few_samples_give_ratio_without_verdict(self):
        for few in ([4.1] * 5, [9.0] * 5, [9.0]):
            with self.subTest(few):
                go = cell("go", 2, few)
                results = Results([self.best, go])
                found = results.figures(go)
                self.assertEqual(
                    (found.seconds, found.same_as_peer, found.interval, found.interval_to_peer),
                    (few[0], None, None, None),
                )
                self.assertEqual(
                    results.rows(["fib(30)"])[2][1:],
                    [f"{few[0]:.3f} (n={len(few)})", "", f"{few[0] / 4:.2f} ?"],
                )
        self.assertIn("takes 6 of both", " ".join(plain(results, 160).split()))

    def test_table_marks_unfinished_cells_and_lists_reasons(self):
        rows = {row[0]: row[1:] for row in self.results.rows(["fib(30)"])}
        self.assertEqual(rows["citor, 2 workers"], ["DNF", "", ""])
        self.assertEqual(rows["OpenMP tasks, 2 workers"], ["wrong", "", ""])
        self.assertEqual(
            self.results.reasons(),
            [
                "citor, 2 workers: fib(30): did not finish within 60 s",
                "OpenMP tasks, 2 workers: fib(30): wrong answer 7",
                "forte: not installed: no cargo",
            ],
        )

    def test_plain_table_fits_given_width(self):
        cells = [
            cell("serial", 1, [1.0], name, "8")
            for name in ("fib", "skynet", "nqueens", "matmul", "uts")
        ]
        text = plain(Results(cells), 60).split("\n\nFor each")[0]
        self.assertLessEqual(max(map(len, text.splitlines())), 60)
        for name in ("fib(8)", "uts(8)"):
            self.assertIn(name, text)


MAIN_JOB = ["fib", "skynet", "nqueens", "matmul"]
WITH_FORKS = [
    "serial",
    "sennit",
    "sennit-task",
    "bare-coroutine",
    "boost-fiber",
    "chili",
    "citor",
    "concurrencpp",
    "coros",
    "cppcoro",
    "dotnet",
    "folly-coro",
    "forte",
    "go",
    "hpx",
    "java-fjp",
    "java-vt",
    "libcoro",
    "libfork",
    "onetbb",
    "openmp",
    "rayon",
    "std-async",
    "taskflow",
    "toomanycooks",
]


class Choice(unittest.TestCase):
    def chosen(self, *arguments):
        given = parsed(*arguments)
        return given.workloads, given.runtimes

    def test_bench_without_options_runs_main_job(self):
        self.assertEqual(self.chosen(), (MAIN_JOB, WITH_FORKS))
        self.assertEqual(self.chosen("--quick"), (MAIN_JOB, WITH_FORKS))
        self.assertEqual(self.chosen("--full"), ([*MAIN_JOB, "uts"], WITH_FORKS))

    def test_workload_option_selects_runtimes_that_offer_it(self):
        policies = [
            f"sennit-fiber-{how}" for how in ("priority", "round-robin", "sharing", "tcmalloc")
        ]
        self.assertEqual(
            self.chosen("--workloads", "select-two"),
            (
                ["select-two"],
                ["sennit-fiber", *policies, "cforall", "crossbeam", "dotnet", "go", "hpx", "tokio"],
            ),
        )

    def test_family_name_selects_all_its_workloads(self):
        workloads, runtimes = self.chosen("--workloads", "fib,fibers,condition")
        self.assertEqual(workloads, ["fib", *FIBERS])
        self.assertLessEqual(
            {"serial", "sennit", "sennit-fiber", "std-thread", "pthread"}, set(runtimes)
        )


class PlanOfRuns(unittest.TestCase):
    def test_missing_workload_is_reported_and_neither_built_nor_run(self):
        plan = Plan(["serial", "boost-fiber", "go"], [("select-two", "9")], [2], 1, 0, 1.0)
        builder = FakeBuilder({"go": "good"})
        with (
            mock.patch("harness.bench.run_once", lambda *_: {"ok": True, "seconds": 1.0}),
            mock.patch("harness.bench.progress"),
        ):
            cells = bench.run_plan(plan, builder)
        self.assertEqual([c.status for c in cells], ["not offered", "not offered", "ok"])
        results = Results(cells)
        self.assertEqual(
            results.reasons(),
            ["plain function: has no select-two", "Boost.Fiber: has no select-two"],
        )
        self.assertEqual(
            [row[0] for row in results.rows(results.titles())], ["runtime", "Go, 2 workers"]
        )

    def test_sennit_also_runs_with_one_worker_and_serial_only_with_one(self):
        plan = Plan(["serial", "sennit", "go"], [("fib", "30")], [4], 1, 0, 1.0)
        self.assertEqual(
            [(c.runtime, c.threads) for c in cells_of(plan)],
            [("serial", 1), ("sennit", 1), ("sennit", 4), ("go", 4)],
        )
        plan = Plan(["sennit-fiber", "go"], [("condition", "30")], [4], 1, 0, 1.0)
        self.assertEqual(
            [(c.runtime, c.threads) for c in cells_of(plan)],
            [("sennit-fiber", 1), ("sennit-fiber", 4), ("go", 4)],
        )

    def test_jobs_have_default_quick_or_full_sizes(self):
        self.assertEqual(
            list(jobs_for(["fib", "uts"], False, False)), [("fib", "39"), ("uts", "T1")]
        )
        self.assertEqual(list(jobs_for(["fib", "uts"], True, True)), [("fib", "32"), ("uts", "TT")])
        self.assertEqual(
            list(jobs_for(["fib", "uts"], False, True)),
            [("fib", "39"), ("uts", "T1"), ("uts", "T3")],
        )

    def order_of(self, seed):
        seen = []

        def remember(command, runtime, workload, size, threads, time_limit):
            seen.append((runtime, workload))
            return {"ok": True, "seconds": 1.0}

        plan = Plan(["serial", "go", "rayon"], [("fib", "30"), ("skynet", "3")], [1], 4, seed, 1.0)
        builder = FakeBuilder(dict.fromkeys(plan.runtimes, "good"))
        with (
            mock.patch("harness.bench.run_once", remember),
            mock.patch("harness.bench.progress"),
            mock.patch("harness.bench.sentinel", lambda: 0.01),
        ):
            bench.run_plan(plan, builder)
        return seen

    def test_block_holds_every_cell_in_order_of_seed(self):
        seen = self.order_of(1)
        blocks = [seen[i : i + 6] for i in range(0, 24, 6)]
        self.assertTrue(
            all(sorted(block) == sorted(blocks[0]) and len(set(block)) == 6 for block in blocks)
        )
        self.assertGreater(len(set(map(tuple, blocks))), 1)
        self.assertEqual(seen, self.order_of(1))
        self.assertNotEqual(seen, self.order_of(2))


class FairShares(unittest.TestCase):
    """A clock that only the runs advance: each run takes WALL seconds."""

    WALL = {"serial": 1.0, "go": 4.0, "rayon": 20.0}

    def measured(self, budget, wall=WALL, **about):
        """Returns (the run, the runtimes of each block)."""
        now, plan = (
            [0.0],
            Plan(
                list(wall),
                [("fib", "30")],
                [1],
                **{"reps": None, "seed": 1, "time_limit": 99.0, "budget": budget} | about,
            ),
        )

        def once(command, runtime, *_):
            now[0] += wall[runtime]
            return {"ok": True, "seconds": 0.1 * next(slower)}

        slower, run = itertools.count(1), bench.Run()  # no cell becomes precise
        with (
            mock.patch("harness.bench.run_once", once),
            mock.patch("harness.bench.progress"),
            mock.patch("harness.bench.sentinel", lambda: 0.01),
            mock.patch("harness.bench.time.monotonic", lambda: now[0]),
        ):
            bench.run_plan(plan, FakeBuilder(dict.fromkeys(wall, "good")), run)
        blocks = [
            {
                cell.runtime
                for cell in run.cells
                for sample in cell.samples
                if sample["block"] == number
            }
            for number in range(len(run.blocks))
        ]
        return run, blocks

    def counts(self, run):
        return {cell.runtime: len(cell.samples) for cell in run.cells}

    def test_fair_level_gives_spare_time_of_cheap_cells_to_expensive_cells(self):
        self.assertEqual(bench.fair_level([(5.0, 1.0), (20.0, 4.0), (100.0, 20.0)], 75.0), 70.0)
        self.assertEqual(bench.fair_level([(10.0, 0.0), (10.0, 4.0)], 2.0), 2.0)
        self.assertEqual(bench.fair_level([(10.0, 0.0), (10.0, 4.0)], 8.0), 6.0)
        self.assertEqual(bench.fair_level([(10.0, 0.0), (10.0, 4.0)], 20.0), math.inf)

    def test_fair_share_gives_cheap_cells_their_least_samples(self):
        run, blocks = self.measured(100.0)
        self.assertEqual(self.counts(run), {"serial": 6, "go": 6, "rayon": 4})
        self.assertEqual(blocks[0], set(self.WALL))  # the first block holds every cell

    def test_expensive_cells_share_and_use_all_remaining_time(self):
        run, _ = self.measured(100.0, {"serial": 1.0, "go": 20.0, "rayon": 20.0})
        self.assertEqual(sorted(self.counts(run).values()), [2, 3, 6])

    def test_block_holds_every_cell_once_no_cell_lacks_samples(self):
        run, blocks = self.measured(300.0)
        self.assertEqual(blocks, [set(self.WALL)] * 12)

    def test_block_without_budget_holds_every_cell(self):
        run, blocks = self.measured(None, most=8)
        self.assertEqual(blocks, [set(self.WALL)] * 8)

    def test_budget_is_shared_fairly_with_fixed_repetitions(self):
        run, _ = self.measured(60.0, reps=3)
        self.assertEqual(self.counts(run), {"serial": 3, "go": 3, "rayon": 3})


class Bench(unittest.TestCase):
    BEHAVIOURS = {
        "serial": "good",
        "sennit": "good",
        "rayon": "good",
        "go": "wrong",
        "onetbb": "crash",
        "openmp": "hang",
        "citor": "refuse",
    }

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name, "below", "results")
        with (
            mock.patch("harness.bench_verbs.Builder", lambda compiler: FakeBuilder(cls.BEHAVIOURS)),
            mock.patch("harness.bench_verbs.jobs_for", lambda *_: [("fib", "30")]),
        ):
            cls.status, cls.out, cls.err = call(
                "bench",
                "--workloads",
                "fib",
                "--threads",
                "2",
                "--reps",
                "2",
                "--seed",
                "7",
                "--time-limit",
                "5",
                "--runtimes",
                "serial,sennit,rayon,go,onetbb,openmp,citor,forte",
                "--out",
                str(cls.folder),
            )
        cls.data = json.loads((cls.folder / "RESULTS.json").read_text())
        cls.cells = {(c["runtime"], c["threads"]): c for c in cls.data["cells"]}

    def test_wrong_answer_fails_command(self):
        self.assertEqual(self.status, 1)

    def test_bench_prints_and_stores_seed(self):
        self.assertTrue(any("seed 7" in line for line in self.err), self.err)
        self.assertEqual(self.data["machine"]["seed"], 7)

    def test_good_runtime_gives_all_samples(self):
        for key in (("serial", 1), ("sennit", 1), ("sennit", 2), ("rayon", 2)):
            self.assertEqual(
                (len(self.cells[key]["samples"]), self.cells[key]["status"]), (2, "ok")
            )

    def test_every_format_gives_reason_for_missing_result(self):
        expected = {
            "go": ("wrong", "wrong answer 832041"),
            "onetbb": ("DNF", "ended by signal 11 (Segmentation fault): without a word"),
            "openmp": ("DNF", "did not finish within 5 s"),
            "citor": ("DNF", "ended with status 1: no threads left"),
            "forte": ("not installed", "no such library"),
        }
        with open(self.folder / "RESULTS.csv", newline="") as file:
            rows = {row["runtime"]: row for row in csv.DictReader(file)}
        text = (self.folder / "RESULTS.md").read_text()
        for runtime, (status, reason) in expected.items():
            with self.subTest(runtime):
                found = self.cells[runtime, 2]
                self.assertEqual(
                    (found["status"], found["reason"], found["samples"]), (status, reason, [])
                )
                self.assertEqual(
                    (rows[runtime]["status"], rows[runtime]["reason"]), (status, reason)
                )
                self.assertIn(reason, text)
                self.assertTrue(any(reason in line for line in self.out), self.out)

    def test_unfinished_cell_is_not_repeated(self):
        shown = [line for line in self.err if "OpenMP" in line]
        self.assertEqual(len(shown), 2, self.err)
        self.assertEqual(sum("skipped" in line for line in shown), 1)

    def test_results_describe_machine(self):
        self.assertLessEqual(
            {
                "cpu",
                "cores",
                "memory",
                "kernel",
                "compiler",
                "compiler_command",
                "commit",
                "date",
                "load_before",
                "load_after",
            },
            set(self.data["machine"]),
        )

    def test_bench_without_any_result_fails(self):
        with mock.patch("harness.bench_verbs.Builder", lambda compiler: FakeBuilder({})):
            status, _, err = call(
                "bench",
                "--workloads",
                "fib",
                "--runtimes",
                "go",
                "--out",
                str(self.folder / "none"),
            )
        self.assertEqual((status, err[-1]), (1, "sennit: no run gave a result"))

    def test_uncreatable_folder_gives_one_clear_line(self):
        with mock.patch("harness.bench_verbs.Builder", lambda compiler: FakeBuilder({})):
            status, out, err = call("bench", "--out", "/proc/nowhere")
        self.assertEqual((status, out, len(err)), (1, [], 1), err)
        self.assertIn("/proc/nowhere", err[0])


if __name__ == "__main__":
    unittest.main()
