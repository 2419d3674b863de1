# SPDX-License-Identifier: Apache-2.0
"""Tests of docs/seed-tables.md: every row has a figure or a reason, and each figure is that of the
right cell in the right unit.
"""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import FakeBuilder, call
from harness import seed_measure, seed_tables
from harness.bench import Cell, Plan, Run
from harness.catalogue import RUNTIMES, WORKLOADS
from harness.document import document, load, save
from harness.execute import Failed
from test_results import ABOUT, sample


def measured(allocator="glibc 2.36", *cells):
    plan = Plan([], [], [2], 2, 1, 5.0)
    return document(Run(list(cells), [], "complete"), plan, ABOUT | {"allocator": allocator})


def cell(runtime, workload, size, threads, seconds):
    return Cell(
        runtime,
        workload,
        size,
        threads,
        [sample(seconds, block) | {"tasks": 1000} for block in range(2)],
    )


def table_of(title):
    return next(table for table in seed_tables.tables() if table["title"] == title)


class Description(unittest.TestCase):
    def test_every_row_names_existing_cell_or_reason(self):
        for table in seed_tables.tables():
            self.assertLessEqual({"title", "source", "machine", "rows"}, set(table))
            if "of" in table:
                self.assertLessEqual(
                    set(table["of"]), {one["title"] for one in seed_tables.tables()}
                )
                continue
            self.assertIn(table["unit"], seed_tables.UNITS)
            self.assertIn(table["per"], seed_tables.PER)
            for row in table["rows"]:
                with self.subTest(table["title"], row=row["name"]):
                    self.assertLessEqual(
                        set(row),
                        {
                            "name",
                            "published",
                            "reason",
                            "runtime",
                            "workload",
                            "size",
                            "smaller",
                            "threads",
                        },
                    )
                    if "reason" not in row:
                        self.assertIn(row["workload"], RUNTIMES[row["runtime"]].offers)
                        for size in (row["size"], row.get("smaller", row["size"])):
                            self.assertEqual(WORKLOADS[row["workload"]].check(size), size)
                        self.assertEqual("smaller" in row and table["per"] == "size", False)

    def test_every_table_but_last_shows_sennit(self):
        for table in seed_tables.tables()[:-1]:
            self.assertTrue(
                any(row.get("runtime", "").startswith("sennit") for row in table["rows"]),
                table["title"],
            )


class Figures(unittest.TestCase):
    def here(self, title, name, *documents):
        table = table_of(title)
        return seed_tables._here(
            table, next(row for row in table["rows"] if row["name"] == name), documents
        )

    def test_figures_are_in_unit_of_table(self):
        results = measured(
            "glibc",
            cell("go", "skynet-channel", "1000000", 2, 0.5),
            cell("sennit", "fib", "39", 2, 0.25),
            cell("sennit-fiber", "yield", "10000000", 1, 0.001),
        )
        title = "skynet, 1,000,000: actors, processes, goroutines"
        self.assertEqual(
            self.here(title, "Go 1.8.1", results),
            ["0.5000", "0.5000 to 0.5000 (range), 2 runs", "2"],
        )
        self.assertEqual(self.here("fib(39)", "Sennit", results)[0], "250.0")
        self.assertEqual(
            self.here("C∀: context switch", "Sennit fibers: yield", results)[0], "1000"
        )

    def test_smaller_size_replaces_unfinished_size(self):
        title, name = "ThreadRing: 503 actors, 50 million hops", "CAF"
        failed = Cell("caf", "thread-ring", "50000000", 2)
        failed.stop("DNF", "did not finish within 20 s")
        small = cell("caf", "thread-ring", "5000000", 2, 2.5)
        self.assertEqual(
            self.here(title, name, measured("glibc", failed)),
            ["no: did not finish within 20 s", "", ""],
        )
        self.assertEqual(
            self.here(title, name, measured("glibc", failed, small)),
            ["25.00", "25.00 to 25.00 (range), 2 runs of 5,000,000, scaled", "2"],
        )
        whole = cell("caf", "thread-ring", "50000000", 2, 20.0)
        self.assertEqual(
            self.here(title, name, measured("glibc", whole, small))[:2],
            ["20.00", "20.00 to 20.00 (range), 2 runs"],
        )

    def test_interval_needs_six_runs(self):
        for runs, shown in (
            (1, "1 run"),
            (5, "250.0 to 254.0 (range), 5 runs"),
            (6, "250.0 to 255.0, 6 runs"),
        ):
            one = Cell(
                "sennit",
                "fib",
                "39",
                2,
                [sample(0.25 + 0.001 * block, block) for block in range(runs)],
            )
            self.assertEqual(self.here("fib(39)", "Sennit", measured("glibc", one))[1], shown)

    def test_table_of_means_averages_ratios_to_best(self):
        four = (("skynet", "8"), ("fib", "39"), ("nqueens", "14"), ("matmul", "2048"))
        cells = [
            cell(name, *job, 2, time)
            for job in four
            for name, time in (("sennit", 1.0), ("onetbb", 2.0))
        ]
        cells += [cell("serial", *four[1], 1, 0.5), cell("rayon", *four[1], 2, 0.5)]
        table = table_of("Mean ratio to the best of the four")
        rows = {row[0]: row for row in seed_tables._rows(table, [measured("glibc", *cells)])}
        self.assertEqual(rows["Sennit"], ["Sennit", "–", "1.25", "n=2 in one of them", "2"])
        self.assertEqual(rows["tbb"], ["tbb", "2.79", "2.50", "n=2 in one of them", "2"])
        self.assertEqual(rows["rayon"][2], "no: no figure for skynet(8), nqueens(14), matmul(2048)")

    def test_all_threads_means_most_threads_within_cpu_count(self):
        results = measured(
            "glibc", *(cell("sennit", "fib", "39", threads, 1.0 / threads) for threads in (1, 2, 8))
        )
        # The machine has two CPUs.
        self.assertEqual(self.here("fib(39)", "Sennit", results)[2], "2")
        self.assertEqual(self.here("fib(39)", "Sennit, 1 worker", results)[2], "1")

    def test_missing_figure_gives_reason(self):
        failed = Cell("libfork", "fib", "39", 2)
        failed.stop("not installed", "not found below libfork_ROOT")
        results = measured("glibc", failed)
        self.assertEqual(
            self.here("fib(39)", "libfork", results), ["no: not found below libfork_ROOT", "", ""]
        )
        self.assertEqual(
            self.here("C∀: context switch", "µC++ thread", results)[0],
            "no: the lab has no port to µC++",
        )
        self.assertEqual(
            self.here("fib(39)", "rayon", results)[0],
            "no: not measured: the results hold no rayon fib(39)",
        )

    def test_empty_cell_gives_reason(self):
        text = seed_tables.markdown([measured()])
        rows = [
            line
            for line in text.splitlines()
            if line.startswith("| ") and not line.startswith("|  |")
        ]
        self.assertEqual(len(rows), sum(len(table["rows"]) for table in seed_tables.tables()))
        for line in rows:
            self.assertIn("| no: ", line)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = f"{self.folder}/tables.md"
        self.compilers = []

    def measure(
        self, behaviours, *arguments, wanted=(("sennit", "fib", "30", 2), ("go", "fib", "30", 2))
    ):
        with (
            mock.patch(
                "harness.seed_measure.Builder",
                lambda compiler: self.compilers.append(compiler) or FakeBuilder(behaviours),
            ),
            mock.patch(
                "harness.seed_measure.cells_to_measure", lambda most: [Cell(*one) for one in wanted]
            ),
        ):
            return call(
                "bench", "seed-tables", "--measure", self.folder, "--out", self.out, *arguments
            )

    def test_measure_option_measures_rows_and_writes_tables(self):
        status, said, err = self.measure({"sennit": "good", "go": "crash"}, "--reps", "2")
        self.assertEqual((status, said), (0, [f"written: {self.out}"]), err)
        self.assertEqual([one["status"] for one in load(self.folder)["cells"]], ["ok", "DNF"])
        self.assertIn("## fib(39)", Path(self.out).read_text())
        for name in ("RESULTS.md", "RESULTS.csv", "RESULTS.html", "SEED-TABLES.md"):
            self.assertTrue(Path(self.folder, name).is_file(), name)
        # A second call has nothing left to do.
        status, said, err = self.measure({}, "--reps", "2")
        self.assertEqual(
            (status, said, err),
            (0, [f"written: {self.out}"], [f"{self.folder} is complete; nothing to measure"]),
        )

    def test_interrupted_measurement_resumes(self):
        with mock.patch("harness.bench._run_block", side_effect=KeyboardInterrupt):
            status, _, err = self.measure({"sennit": "good", "go": "good"}, "--reps", "2")
        self.assertEqual(
            (status, err[-2:]),
            (
                130,
                [
                    "sennit: interrupted; "
                    f"./sennit bench seed-tables --measure {self.folder} goes on",
                    "sennit: interrupted",
                ],
            ),
        )
        status, _, err = self.measure({"sennit": "good", "go": "good"})
        self.assertEqual(status, 0, err)
        results = load(self.folder)
        self.assertEqual(
            (results["state"], [len(one["samples"]) for one in results["cells"]]),
            ("complete", [2, 2]),
        )

    def test_resumed_measurement_keeps_its_compiler(self):
        with (
            mock.patch("harness.bench._run_block", side_effect=KeyboardInterrupt),
            mock.patch.dict("os.environ", CXX="c++"),
        ):
            self.measure({"sennit": "good", "go": "good"}, "--reps", "2")
        found = load(self.folder)
        self.assertEqual(found["machine"]["compiler_command"], "c++")
        self.measure({"sennit": "good", "go": "good"})
        self.assertEqual(self.compilers, ["c++", "c++"])
        save(
            found | {"machine": found["machine"] | {"compiler_command": "no-such-compiler"}},
            Path(self.folder, "RESULTS.json"),
        )
        self.assertEqual(
            self.measure({}), (2, [], ["sennit: the compiler 'no-such-compiler' is not installed"])
        )

    def test_exhausted_budget_marks_rows_and_next_call_continues(self):
        with mock.patch("harness.bench.Forecast.over", side_effect=[False, False, True, True]):
            status, _, err = self.measure(
                {"sennit": "good", "go": "good"}, "--reps", "1", "--budget", "1"
            )
        self.assertEqual(status, 0, err)
        results = load(self.folder)
        self.assertEqual(
            sorted(str(one["reason"]) for one in results["cells"]),
            ["None", "not run: the budget of the whole run was used up"],
        )
        self.assertEqual(results["state"], "interrupted")
        self.assertEqual(
            err[-1],
            "sennit: no time was left for 1 row; "
            f"./sennit bench seed-tables --measure {self.folder} goes on",
        )
        status, _, err = self.measure({"sennit": "good", "go": "good"})
        self.assertEqual([one["reason"] for one in load(self.folder)["cells"]], [None, None], err)

    def test_unfinished_row_is_measured_at_smaller_size(self):
        seen = []

        def once(command, runtime, workload, size, threads, time_limit):
            seen.append((runtime, size))
            if size == "50000000" and runtime == "caf":
                raise Failed("did not finish within 20 s")
            return {
                key: value for key, value in sample(1.0).items() if key not in ("block", "position")
            } | {"ok": True}

        wanted = (
            ("caf", "thread-ring", "50000000", 2),
            ("sennit-actor", "thread-ring", "50000000", 2),
        )
        with (
            mock.patch("harness.bench.run_once", once),
            mock.patch("harness.seed_measure.usable_cpus", lambda: 2),
        ):
            status, _, err = self.measure(
                {"caf": "good", "sennit-actor": "good"}, "--reps", "1", wanted=wanted
            )
        self.assertEqual((status, load(self.folder)["state"]), (0, "complete"), err)
        self.assertEqual(
            sorted(seen), [("caf", "5000000"), ("caf", "50000000"), ("sennit-actor", "50000000")]
        )
        self.assertIn(
            "| CAF | – | 10.00 | 1 run of 5,000,000, scaled | 2 |", Path(self.out).read_text()
        )

    def test_row_that_failed_before_interruption_is_measured_at_smaller_size(self):
        failed = Cell("caf", "thread-ring", "50000000", 2)
        failed.stop("DNF", "did not finish within 20 s")
        run, plan = (
            Run([failed, Cell("go", "thread-ring", "50000000", 2)]),
            Plan(["caf", "go"], [], [2], 1, 1, 5.0),
        )
        once = {
            key: value for key, value in sample(1.0).items() if key not in ("block", "position")
        } | {"ok": True}
        with (
            mock.patch("harness.bench.run_once", lambda *_: dict(once)),
            mock.patch("harness.bench.progress"),
            mock.patch("harness.seed_measure.usable_cpus", lambda: 2),
        ):
            seed_measure.run_rows(
                plan, FakeBuilder({"caf": "good", "go": "good"}), run, lambda: None
            )
        self.assertEqual(
            [(one.runtime, one.size, len(one.samples)) for one in run.cells],
            [("caf", "50000000", 0), ("go", "50000000", 1), ("caf", "5000000", 1)],
        )
        self.assertEqual(run.state, "complete")

    def test_each_row_is_measured_once(self):
        cells = seed_measure.cells_to_measure(2)
        keys = [seed_measure._key(one) for one in cells]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertIn(("serial", "fib", "39", 1), keys)
        self.assertIn(("boost-fiber-tcmalloc", "skynet-channel", "1000000", 2), keys)
        self.assertNotIn(
            "serial",
            {
                one.runtime
                for one in seed_measure.cells_to_measure(
                    2, [one for one in cells if one.runtime == "serial"]
                )
            },
        )

    def test_bad_input_gives_one_clear_line(self):
        save(measured(), Path(self.folder, "RESULTS.json"))
        for arguments, message in (
            ((), "takes results files"),
            (("/nowhere",), "No such file"),
            ((self.folder, "--reps", "x"), "--reps must be"),
            ((self.folder, "--budget", "long"), "--budget must be a number of minutes"),
            (("--measure", self.folder), "holds other results"),
        ):
            status, out, err = call("bench", "seed-tables", *arguments)
            self.assertEqual((status, out, len(err)), (2, [], 1), err)
            self.assertIn(message, err[0])


if __name__ == "__main__":
    unittest.main()
