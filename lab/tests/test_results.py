# SPDX-License-Identifier: Apache-2.0
"""Tests of RESULTS.json: written results satisfy their schema, the lab checks a file that it reads
back, and an interruption loses no sample.
"""

import copy
import csv
import errno
import io
import itertools
import json
import math
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import jsonschema

from lab_case import FakeBuilder, call, parsed
from harness import bench, bench_verbs, machine, progress, report, seed_measure
from harness.bench import Cell, Plan, Run, enough
from harness.catalogue import UsageError
from harness.document import SCHEMA, document, load, problem, restore, save
from harness.report import markdown, write_files
from harness.sentinel import mark_noisy, sentinel
from harness.stats import FEWEST
from harness.table import Results

ABOUT = {
    "cpu": "a",
    "cores": 2,
    "memory": "1 kB",
    "kernel": "6",
    "compiler": "g++",
    "flags": "-O3",
    "allocator": "glibc",
    "commit": "1234",
    "date": "2026-01-01",
    "seed": 1,
}


def sample(seconds, block=0):
    return {
        "seconds": seconds,
        "cpu_seconds": 2 * seconds,
        "peak_rss_kib": 10,
        "tasks": 1,
        "answer": 832040,
        "block": block,
        "position": 0,
    }


def example():
    good = Cell(
        "sennit",
        "fib",
        "30",
        2,
        [sample(1.0 + 0.01 * number, number) for number in range(5)] + [sample(9.0, 5)],
    )
    failed = Cell("go", "fib", "30", 2)
    failed.stop("DNF", "did not finish within 5 s")
    blocks = [{"sentinel": [0.01, 0.01], "noisy": False} for _ in range(5)] + [
        {"sentinel": [0.01, 0.02], "noisy": False}
    ]
    plan = Plan(["sennit", "go"], [("fib", "30")], [2], None, 1, 5.0)
    return Run([good, failed], blocks, "complete"), plan


class About(unittest.TestCase):
    def test_compiler_is_named_as_it_was_called(self):
        self.assertEqual(machine.machine("g++")["compiler_command"], "g++")

    def test_flags_are_those_of_compiler_command(self):
        with mock.patch.dict(os.environ, SENNIT_LAB_BUILD="", CXXFLAGS="-pipe"):
            flags = machine.machine("g++")["flags"]
        self.assertIn("-march=native", flags)
        self.assertTrue(flags.startswith("-pipe -O3"), flags)
        self.assertNotIn("$", flags)

    def test_flags_of_given_build_folder_come_from_its_cache(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict(os.environ, SENNIT_LAB_BUILD=folder),
        ):
            self.assertIsNone(machine.machine("g++")["flags"])
            Path(folder, "CMakeCache.txt").write_text(
                "// a remark\nCMAKE_BUILD_TYPE:STRING=Release\nCMAKE_CXX_FLAGS:STRING=-g\n"
                "CMAKE_CXX_FLAGS_RELEASE:STRING=-O3 -DNDEBUG\n"
                "SENNIT_LAB_FLAGS:STRING=-O1;-DNDEBUG\n"
            )
            self.assertEqual(machine.machine("g++")["flags"], "-g -O3 -O1 -DNDEBUG")


class File(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "RESULTS.json"
        self.run_, self.plan = example()
        self.results = document(self.run_, self.plan, ABOUT)

    def test_written_results_satisfy_schema(self):
        schema = json.loads(SCHEMA.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(json.dumps(self.results)), schema)
        self.assertIsNone(problem(json.loads(json.dumps(self.results))))

    def test_outliers_and_noisy_blocks_are_marked_and_kept(self):
        self.assertEqual(
            [one["outlier"] for one in self.results["cells"][0]["samples"]], [False] * 5 + [True]
        )
        self.assertEqual([block["noisy"] for block in self.results["blocks"]], [False] * 5 + [True])

    def test_restored_run_equals_saved_run(self):
        save(self.results, self.path)
        run, plan, about = restore(load(self.folder))
        self.assertEqual((plan, about, run.blocks), (self.plan, ABOUT, self.run_.blocks))
        self.assertEqual(
            [cell.seconds() for cell in run.cells], [cell.seconds() for cell in self.run_.cells]
        )
        self.assertEqual(run.cells[1].reason, "did not finish within 5 s")

    def test_interval_needs_six_samples_in_new_and_older_files(self):
        for count, interval, shown, low in (
            (6, [1.0, 9.0], "| 1.025 | 1.000 to 9.000 |", "1.0"),
            (5, None, "| 1.020 | 1.000 to 1.040 (range) |", ""),
            (1, None, "| 1.000 | – |", ""),
        ):
            with self.subTest(count):
                self.run_.cells[0].samples = self.run_.cells[0].samples[:count]
                write_files(self.run_, self.plan, ABOUT, self.folder)
                written = json.loads(self.path.read_text())
                self.assertEqual([cell["interval"] for cell in written["cells"]], [interval, None])
                self.assertIn(shown, (self.folder / "RESULTS.md").read_text())
                with open(self.folder / "RESULTS.csv", newline="") as file:
                    self.assertEqual(next(csv.DictReader(file))["low_seconds"], low)
                # Older versions of the lab wrote an interval of fewer samples.
                written["cells"][0]["interval"] = [1.0, 1.04]
                save(written, self.path)
                self.assertEqual(
                    load(self.path)["cells"][0]["interval"], interval and tuple(interval)
                )

    def test_bad_file_gives_one_clear_line(self):
        def broken(change):
            results = copy.deepcopy(self.results)
            change(results)
            return json.dumps(results)

        cases = {
            "it is not JSON": "{",
            "no results file of this lab": '{"machine": {}, "cells": []}',
            "the file: 'cells' is a required property": broken(
                lambda results: results.pop("cells")
            ),
            "has version 2 of the results; this lab reads version 1": broken(
                lambda results: results.update(version=2)
            ),
            "cells[0].threads: '2' is not of type 'integer'": broken(
                lambda results: results["cells"][0].update(threads="2")
            ),
            "inf is not of type 'number'": broken(
                lambda results: results["cells"][0]["samples"][0].update(seconds=7.0)
            ).replace("7.0", "1e999"),
            "cells[0].samples[0].seconds: 0 is less than or equal to the minimum of 0": broken(
                lambda results: results["cells"][0]["samples"][0].update(seconds=0)
            ),
            "machine.cores: '2' is not of type 'integer'": broken(
                lambda results: results["machine"].update(cores="2")
            ),
            "machine.cores: None is not of type 'integer'": broken(
                lambda results: results["machine"].update(cores=None)
            ),
            "cells[0] has a median, and not the samples for it": broken(
                lambda results: results["cells"][0].update(samples=[])
            ),
            "cells[0] has a median": broken(
                lambda results: [
                    sample.update(tasks=0) for sample in results["cells"][0]["samples"]
                ]
            ),
            "plan: Additional properties are not allowed ('colour' was unexpected)": broken(
                lambda results: results["plan"].update(colour=1)
            ),
        }
        for message, text in cases.items():
            with self.subTest(message):
                self.path.write_text(text)
                with self.assertRaises(UsageError) as raised:
                    load(self.path)
                self.assertIn(message, str(raised.exception))
                status, out, err = call("bench", "--resume", str(self.path))
                self.assertEqual((status, out, len(err)), (2, [], 1))
        for text in (
            "[" * 100_000,
            broken(lambda results: results["cells"][0]["samples"][0].update(seconds=math.inf)),
            broken(lambda results: results["cells"][0]["samples"][0].update(seconds=math.nan)),
        ):
            self.path.write_text(text)
            with self.assertRaisesRegex(UsageError, "it is not JSON"):
                load(self.path)
        with self.assertRaisesRegex(UsageError, "No such file"):
            load(self.folder / "nothing.json")

    def test_resume_refuses_unknown_runtime_workload_or_size(self):
        for change, message in (
            ({"runtime": "hare"}, "no runtime is called 'hare'"),
            ({"workload": "hop"}, "no workload is called 'hop'"),
            ({"workload": "condition"}, "sennit has no condition"),
            ({"size": "many"}, "fib: size must be"),
        ):
            with self.subTest(message):
                results = copy.deepcopy(self.results) | {"state": "interrupted"}
                results["cells"][0].update(change)
                save(results, self.path)
                status, out, err = call("bench", "--resume", str(self.folder))
                self.assertEqual((status, out, len(err)), (2, [], 1))
                self.assertIn(message, err[0])

    def test_full_disk_leaves_former_results(self):
        save(self.results, self.path)
        before = self.path.read_text()
        (self.folder / "RESULTS.json.new").symlink_to("/dev/full")
        with self.assertRaises(OSError) as raised:
            write_files(self.run_, self.plan, ABOUT, self.folder)
        self.assertEqual(
            (raised.exception.errno, raised.exception.filename), (errno.ENOSPC, str(self.path))
        )
        self.assertEqual(self.path.read_text(), before)

    def test_full_disk_leaves_every_former_file(self):
        for name in ("RESULTS.md", "RESULTS.csv", "RESULTS.html", "SEED-TABLES.md"):
            with self.subTest(name):
                (self.folder / name).write_text("former")
                (self.folder / f"{name}.new").symlink_to("/dev/full")
                with self.assertRaises(OSError):
                    write_files(self.run_, self.plan, ABOUT, self.folder)
                self.assertEqual((self.folder / name).read_text(), "former")

    def test_unwritable_results_leave_only_former_file(self):
        save(self.results, self.path)
        with self.assertRaises(UnicodeEncodeError):
            save(self.results | {"state": "\ud800"}, self.path)
        self.assertEqual(list(self.folder.iterdir()), [self.path])
        self.assertEqual(load(self.path)["state"], "complete")

    def test_latest_leads_to_run_from_first_block(self):
        with mock.patch("harness.report.RESULTS", self.folder):
            for name in ("one", "two"):
                (self.folder / name).mkdir()
                report.checkpoint(self.run_, self.plan, dict(ABOUT), self.folder / name, {})()
                self.assertEqual((self.folder / "latest").readlink(), Path(name))
        self.assertEqual(
            sorted(path.name for path in self.folder.iterdir()), ["latest", "one", "two"]
        )

    def test_full_disk_loses_files_but_not_table(self):
        (self.folder / "RESULTS.md").symlink_to("/dev/full")
        with (
            mock.patch(
                "harness.bench_verbs.Builder", lambda compiler: FakeBuilder({"serial": "good"})
            ),
            mock.patch("harness.bench_verbs.jobs_for", lambda *_: [("fib", "30")]),
        ):
            status, out, err = call(
                "bench", "--runtimes", "serial", "--reps", "1", "--out", str(self.folder)
            )
        self.assertEqual(
            (status, err[-1]), (1, f"sennit: [Errno 28] No space left on device: '{self.folder}'")
        )
        self.assertTrue(any(line.startswith("plain function") for line in out), out)

    def test_many_workloads_make_several_tables_of_runtimes_that_offer_them(self):
        cells = [
            Cell("sennit", name, "8", 1, [sample(1.0)])
            for name in ("fib", "skynet", "nqueens", "matmul")
        ]
        cells += [Cell("go", "condition", "8", 1, [sample(1.0)])]
        lines = markdown(Results(cells), ABOUT).partition("## Each result")[0].splitlines()
        heads = [number for number, line in enumerate(lines) if line.startswith("| runtime |")]
        self.assertEqual([lines[number].count("÷ peer") for number in heads], [4, 1])
        self.assertEqual(
            [lines[number + 2].split(" | ")[0] for number in heads],
            ["| Sennit, 1 worker", "| Go, 1 worker"],
        )
        self.assertEqual([lines[number + 3] for number in heads], ["", ""])

    def test_complete_results_are_not_resumed(self):
        save(self.results, self.path)
        status, _, err = call("bench", "--resume", str(self.folder))
        self.assertEqual((status, len(err)), (2, 1))
        self.assertIn("nothing to resume", err[0])
        status, _, err = call("bench", "--resume", str(self.folder), "--threads", "2")
        self.assertIn("does not go with --threads", err[0])


class StopRule(unittest.TestCase):
    PLAN = Plan([], [], [], None, 0, 1.0, cell_budget=10.0, least=6, most=15, precision=0.02)

    def stopped(self, seconds, plan=PLAN):
        return enough(Cell("sennit", "fib", "30", 1, [sample(value) for value in seconds]), plan)

    def test_precise_cell_stops_at_least_samples(self):
        self.assertEqual([self.stopped([1.0] * count) for count in (5, 6)], [None, "precise"])

    def test_cell_without_interval_is_not_precise(self):
        plan = Plan([], [], [], None, 0, 1.0, cell_budget=10.0, least=2, most=15, precision=0.02)
        self.assertEqual(
            [self.stopped([1.0] * count, plan) for count in (2, 5, 6)], [None, None, "precise"]
        )

    def test_every_plan_asks_for_enough_samples_for_interval(self):
        for arguments in ((), ("--quick",), ("--full",)):
            self.assertGreaterEqual(bench_verbs._plan(parsed(*arguments)).least, FEWEST)
        self.assertGreaterEqual(min(bench.LEAST, seed_measure.LEAST), FEWEST)

    def test_wide_cell_continues_to_most_samples(self):
        wide = list(itertools.islice(itertools.cycle([0.1, 0.2, 0.3]), 15))
        self.assertEqual(
            [self.stopped(wide[:count]) for count in (6, 14, 15)], [None, None, "most"]
        )

    def test_slow_cell_stops_at_its_budget(self):
        self.assertEqual(self.stopped([11.0]), "budget")

    def test_repetitions_option_fixes_number_of_samples(self):
        plan = Plan([], [], [], 3, 0, 1.0)
        self.assertEqual(
            [self.stopped([1.0] * count, plan) for count in (2, 3)], [None, "repetitions"]
        )


class Interruption(unittest.TestCase):
    PLAN = dict(
        runtimes=["serial", "go", "rayon"],
        jobs=[("fib", "30")],
        threads=[1],
        reps=3,
        seed=4,
        time_limit=1.0,
    )

    def measured(self, run, stop_after=None):
        count = itertools.count(1)

        def once(command, runtime, workload, size, threads, time_limit):
            if next(count) == stop_after:
                raise KeyboardInterrupt
            return {
                key: value for key, value in sample(1.0).items() if key not in ("block", "position")
            } | {"ok": True}

        builder = FakeBuilder(dict.fromkeys(self.PLAN["runtimes"], "good"))
        with (
            mock.patch("harness.bench.run_once", once),
            mock.patch("harness.bench.progress"),
            mock.patch("harness.bench.sentinel", lambda: 0.01),
        ):
            bench.run_plan(Plan(**self.PLAN), builder, run)

    def test_resumed_run_keeps_samples_and_order(self):
        whole, parts = Run(), Run()
        self.measured(whole)
        with self.assertRaises(KeyboardInterrupt):
            self.measured(parts, stop_after=6)  # in the second block
        self.assertEqual(
            (parts.state, sum(len(cell.samples) for cell in parts.cells)), ("interrupted", 5)
        )
        parts = restore(document(parts, Plan(**self.PLAN), ABOUT))[0]
        self.measured(parts)
        self.assertEqual(parts.state, "complete")
        places = [
            {
                (cell.runtime, one["block"], one["position"])
                for cell in run.cells
                for one in cell.samples
            }
            for run in (whole, parts)
        ]
        self.assertEqual(*places)
        self.assertEqual(len(places[0]), 9)

    def test_run_resumes_only_with_same_commit_and_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            run, plan = example()
            run.state = "interrupted"
            about = machine.machine("g++") | {"seed": 1}
            for key in ("commit", "compiler", "flags", "allocator", "cpu", "kernel"):
                with self.subTest(key):
                    save(
                        document(run, plan, about | {key: "another"}), Path(folder, "RESULTS.json")
                    )
                    with mock.patch(
                        "harness.bench_verbs.machine",
                        lambda _: about | {key: about[key] or "this one"},
                    ):
                        status, out, err = call("bench", "--resume", folder)
                    self.assertEqual((status, out, len(err)), (2, [], 1))
                    self.assertIn(f"the run began with {key} another, and this is ", err[0])

    def test_interrupted_command_saves_results_and_names_resume_command(self):
        with tempfile.TemporaryDirectory() as folder:
            builder = FakeBuilder({"serial": "good", "go": "good"})
            with (
                mock.patch("harness.bench_verbs.Builder", lambda compiler: builder),
                mock.patch("harness.bench_verbs.jobs_for", lambda *_: [("fib", "30")]),
            ):
                with mock.patch("harness.bench._run_block", side_effect=KeyboardInterrupt):
                    status, _, err = call(
                        "bench", "--runtimes", "serial,go", "--reps", "2", "--out", folder
                    )
                self.assertEqual(
                    (status, err[-2:]),
                    (
                        130,
                        [
                            f"sennit: interrupted; ./sennit bench --resume {folder} goes on",
                            "sennit: interrupted",
                        ],
                    ),
                )
                self.assertEqual(load(folder)["state"], "interrupted")
                status, _, err = call("bench", "--resume", folder, "--quiet-log")
            self.assertEqual(status, 0, err)
            results = load(folder)
            self.assertEqual(results["state"], "complete")
            self.assertEqual(
                [len(cell["samples"]) for cell in results["cells"]], [2] * len(results["cells"])
            )
            self.assertEqual(
                [line for line in err if line.startswith("block")],
                [line for line in err if line.startswith("block") and "of at most 2" in line],
            )


class Shown(unittest.TestCase):
    def test_time_left_is_shown_in_words(self):
        self.assertEqual(
            [progress.in_words(value) for value in (None, 0.2, 30, 600, 7200)],
            ["", "about 1 s left", "about 30 s left", "about 10 min left", "about 2.0 h left"],
        )

    def test_forecast_counts_remaining_samples_of_each_cell(self):
        cells = [
            Cell("go", "fib", "30", 1, [sample(1.0)]),
            Cell("rayon", "fib", "30", 1, [sample(1.0)]),
        ]
        forecast = bench.Forecast(cells, Plan([], [], [], 3, 0, 1.0))
        self.assertIsNone(forecast.left())
        forecast.took(cells[0], 2.0)
        # The forecast assumes that the other cell is as slow.
        self.assertEqual(forecast.left(), 2 * 2.0 + 2 * 2.0)
        forecast.took(cells[1], 4.0)
        cells[0].stopped = "budget"
        self.assertEqual(forecast.left(), 2 * 4.0)

    def test_quiet_log_has_line_for_each_block_and_failure(self):
        stream = io.StringIO()
        shown = progress.Shown(5, quiet=True, stream=stream)
        shown.block(1)
        shown.begin("Go: fib(30)", None)
        shown.end("Go: fib(30)", "1.0000 s")
        shown.end("Rust: fib(30)", "did not finish within 5 s")
        self.assertEqual(
            stream.getvalue().splitlines(),
            ["block 1 of at most 5", "Rust: fib(30): did not finish within 5 s"],
        )


class Sentinel(unittest.TestCase):
    def test_sentinel_takes_time_and_leaves_no_process(self):
        self.assertGreater(sentinel(1000), 0)

    def test_sentinel_without_fork_gives_nothing(self):
        with mock.patch("os.fork", side_effect=OSError):
            self.assertIsNone(sentinel(1000))

    def test_block_beside_slow_sentinel_is_noisy(self):
        blocks = [{"sentinel": times} for times in ([1.0, 1.0], [1.0, 1.3], [1.1, 1.0], [])]
        mark_noisy(blocks)
        self.assertEqual([block["noisy"] for block in blocks], [False, True, False, False])


if __name__ == "__main__":
    unittest.main()
