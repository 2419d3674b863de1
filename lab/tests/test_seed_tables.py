# SPDX-License-Identifier: Apache-2.0
"""docs/seed-tables.md: every row has a figure or a reason, and each figure is that of the right cell in the right unit."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import FakeBuilder, call
from harness import seed_tables
from harness.bench import Cell, Plan, Run
from harness.catalogue import RUNTIMES, WORKLOADS
from harness.document import document, load, save
from test_results import ABOUT, sample


def measured(allocator="glibc 2.36", *cells):
    plan = Plan([], [], [2], 2, 1, 5.0)
    return document(Run(list(cells), [], "complete"), plan, ABOUT | {"allocator": allocator})


def cell(runtime, workload, size, threads, seconds):
    return Cell(runtime, workload, size, threads, [sample(seconds, block) | {"tasks": 1000} for block in range(2)])


def table_of(title):
    return next(table for table in seed_tables.tables() if table["title"] == title)


class Description(unittest.TestCase):
    def test_every_row_names_what_the_lab_has_or_a_reason(self):
        for table in seed_tables.tables():
            self.assertLessEqual({"title", "source", "machine", "unit", "per", "rows"}, set(table))
            self.assertIn(table["unit"], seed_tables.UNITS)
            self.assertIn(table["per"], seed_tables.PER)
            for row in table["rows"]:
                with self.subTest(table["title"], row=row["name"]):
                    self.assertLessEqual(set(row), {"name", "published", "reason", "runtime", "workload", "size", "threads", "allocator"})
                    if "reason" not in row:
                        self.assertIn(row["workload"], RUNTIMES[row["runtime"]].offers)
                        self.assertEqual(WORKLOADS[row["workload"]].check(row["size"]), row["size"])

    def test_every_table_shows_sennit_or_says_why_not(self):
        for table in seed_tables.tables()[:-1]:
            self.assertTrue(any(row.get("runtime", "").startswith("sennit") for row in table["rows"]), table["title"])


class Figures(unittest.TestCase):
    def here(self, title, name, *documents):
        table = table_of(title)
        return seed_tables._here(table, next(row for row in table["rows"] if row["name"] == name), documents)

    def test_units(self):
        results = measured("glibc", cell("go", "skynet-channel", "1000000", 2, 0.5), cell("sennit", "fib", "39", 2, 0.25),
                           cell("sennit-fiber", "yield", "10000000", 1, 0.001))
        title = "skynet, 1,000,000: actors, processes, goroutines"
        self.assertEqual(self.here(title, "Go 1.8.1", results), ["0.5000", "0.5000 to 0.5000, 2 runs", "2"])
        self.assertEqual(self.here("fib(39)", "Sennit", results)[0], "250.0")
        self.assertEqual(self.here("C∀: context switch", "Sennit fibers: yield", results)[0], "1000")

    def test_allocators_are_kept_apart(self):
        title, name = "skynet, 1,000,000: fibers", "Sennit fibers, tcmalloc"
        glibc = measured("glibc 2.36", cell("sennit-fiber", "skynet-channel", "1000000", 2, 0.5))
        tcmalloc = measured("/usr/lib/libtcmalloc_minimal.so.4", cell("sennit-fiber", "skynet-channel", "1000000", 2, 0.25))
        self.assertTrue(self.here(title, name, glibc)[0].startswith("no: not measured with tcmalloc"))
        self.assertEqual(self.here(title, name, glibc, tcmalloc)[0], "0.2500")
        self.assertEqual(self.here(title, "Sennit fibers, glibc", tcmalloc, glibc)[0], "0.5000")

    def test_all_threads_are_the_most_that_were_measured(self):
        results = measured("glibc", *(cell("sennit", "fib", "39", threads, 1.0 / threads) for threads in (1, 4, 2)))
        self.assertEqual(self.here("fib(39)", "Sennit", results)[2], "4")
        self.assertEqual(self.here("fib(39)", "Sennit, 1 worker", results)[2], "1")

    def test_reasons(self):
        failed = Cell("libfork", "fib", "39", 2)
        failed.stop("not installed", "not found below libfork_ROOT")
        results = measured("glibc", failed)
        self.assertEqual(self.here("fib(39)", "libfork", results), ["no: not found below libfork_ROOT", "", ""])
        self.assertEqual(self.here("fib(39)", "HPX", results)[0], "no: no package registry has HPX, and the lab has no port to it")
        self.assertEqual(self.here("fib(39)", "rayon", results)[0], "no: not measured: the results hold no rayon fib(39)")

    def test_no_cell_is_empty_without_a_reason(self):
        text = seed_tables.markdown([measured()])
        rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("|  |")]
        self.assertEqual(len(rows), sum(len(table["rows"]) for table in seed_tables.tables()))
        for line in rows:
            self.assertIn("| no: ", line)


class Command(unittest.TestCase):
    def test_measuring_and_writing(self):
        with tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/tables.md"
            wanted = [Cell("sennit", "fib", "30", 2), Cell("go", "fib", "30", 2)]
            with mock.patch("harness.seed_tables.Builder", lambda: FakeBuilder({"sennit": "good", "go": "crash"})), \
                    mock.patch("harness.seed_tables.cells_to_measure", lambda most: wanted):
                status, said, err = call("bench", "seed-tables", "--measure", folder, "--reps", "2", "--out", out)
            self.assertEqual((status, said), (0, [f"written: {out}"]), err)
            self.assertEqual([one["status"] for one in load(folder)["cells"]], ["ok", "DNF"])
            self.assertIn("## fib(39)", Path(out).read_text())

    def test_each_row_is_measured_once_with_the_allocator_of_the_process(self):
        with mock.patch.dict("os.environ", LD_PRELOAD=""):
            glibc = seed_tables.cells_to_measure(2)
        with mock.patch.dict("os.environ", LD_PRELOAD="/usr/lib/libtcmalloc.so"):
            tcmalloc = seed_tables.cells_to_measure(2)
        keys = [(one.runtime, one.workload, one.size, one.threads) for one in glibc]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertIn(("serial", "fib", "39", 1), keys)
        self.assertEqual({one.runtime for one in tcmalloc}, {"boost-fiber", "sennit-fiber"})

    def test_bad_input_is_one_clear_line(self):
        with tempfile.TemporaryDirectory() as folder:
            save(measured(), Path(folder, "good.json"))
            for arguments, message in (((), "takes results files"), (("/nowhere",), "No such file"), ((f"{folder}/good.json", "--reps", "x"), "--reps must be")):
                status, out, err = call("bench", "seed-tables", *arguments)
                self.assertEqual((status, out, len(err)), (2, [], 1), err)
                self.assertIn(message, err[0])


if __name__ == "__main__":
    unittest.main()
