# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench pages`: the committed pages are those that the sources, lab/pages.toml and the
committed results give, and a mistake in any of them gives one clear line.
"""

import shutil
import tempfile
import unittest
from pathlib import Path

from example_results import ABOUT, example
from lab_case import ROOT, call
from harness.bench import Cell, Plan, Run
from harness.catalogue import WORKLOADS
from harness.declared import UsageError
from harness.document import document, save
from harness.excerpts import excerpts
from harness.workload_pages import Pages, declared, described, stale, verdict

PAGES = ROOT / "docs" / "benchmarks"
SOURCE = """\
int before;
    // excerpt first

    // A comment.
    int a() {
        return 1;
    }
    // excerpt end
// excerpt second
int b;
// excerpt end
"""
BROKEN = {
    "x.go:1: this end of an excerpt has no beginning": "// excerpt end\n",
    "x.go:2: the excerpt 'a' has no end before this one": "// excerpt a\n// excerpt b\n",
    "x.go: the excerpt 'a' has no end": "// excerpt a\nfunc a() {}\n",
    "x.go:3: the file has two excerpts 'a'": "// excerpt a\n// excerpt end\n// excerpt a\n",
}


class Committed(unittest.TestCase):
    def test_pages_are_those_that_their_sources_give(self):
        self.assertEqual(stale(ROOT), [], "./sennit bench pages writes them")

    def test_every_workload_has_a_page_and_a_place_in_the_index(self):
        index = (PAGES / "README.md").read_text()
        for name in WORKLOADS:
            with self.subTest(name):
                text = (PAGES / f"{name}.md").read_text()
                self.assertIn(f"./sennit bench --workloads {name} --out", text)
                self.assertIn(f"[{name}]({name}.md)", index)

    def test_declared_pages_say_limits_and_show_three_parts_of_code(self):
        pages = Pages(ROOT)
        for name, page in pages.declared.items():
            with self.subTest(name):
                self.assertTrue(page["measures"] and page["leaves_out"] and page["about"])
                self.assertGreaterEqual(len(pages.code(name)), 3)
                for title, one in pages.code(name):
                    self.assertTrue(title and one.language and one.text)

    def test_every_workload_of_the_lab_is_described(self):
        found = described((ROOT / "lab" / "README.md").read_text())
        self.assertEqual(set(WORKLOADS) - set(found), set())


class Excerpts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.lab = Path(folder.name)

    def read(self, text):
        (self.lab / "x.go").write_text(text)
        return excerpts("x.go", self.lab)

    def test_excerpt_has_lines_between_its_marks_without_their_indentation(self):
        found = self.read(SOURCE)
        self.assertEqual(list(found), ["first", "second"])
        self.assertEqual(found["first"].text, "// A comment.\nint a() {\n    return 1;\n}")
        self.assertEqual(found["second"].text, "int b;")
        self.assertEqual(found["first"].language, "go")

    def test_mark_without_its_other_half_gives_one_line(self):
        for message, text in BROKEN.items():
            with self.subTest(message), self.assertRaisesRegex(UsageError, message):
                self.read(text)

    def test_source_that_is_missing_gives_one_line(self):
        with self.assertRaisesRegex(UsageError, "lab/y.go: No such file"):
            excerpts("y.go", self.lab)


class Declarations(unittest.TestCase):
    def test_mistake_gives_one_line(self):
        for text, message in {
            "[fob]\n": "no workload is called 'fob'",
            "[fib]\nabuot = 'x'\n": "fib has the unknown key 'abuot'",
            "[fib]\nlike = 'skynet'\n": "'skynet' has no page in this file",
            "[fib\n": "lab/pages.toml: ",
        }.items():
            with self.subTest(text), self.assertRaisesRegex(UsageError, message):
                declared(text)

    def test_page_takes_keys_of_the_page_that_it_is_like(self):
        pages = declared("[fib]\nabout = 'a'\ncode = []\n[uts]\nlike = 'fib'\nabout = 'b'\n")
        self.assertEqual(pages["uts"], {"about": "b", "code": []})

    def test_short_names_of_a_table_are_completed(self):
        table = "| workload | program |\n|---|---|\n| `io-echo-1`, `-16` | so many |\n"
        self.assertEqual(
            described(table),
            {"io-echo-1": [("program", "so many")], "io-echo-16": [("program", "so many")]},
        )


def sample(block, seconds, **figures):
    return {
        "seconds": seconds,
        "cpu_seconds": 2 * seconds,
        "tasks": 1000,
        "answer": 1,
        "peak_rss_kib": 4096,
        "block": block,
        "position": 0,
        "figures": figures,
    }


def cell(runtime, workload, size, samples):
    return Cell(runtime, workload, size, 2, samples)


class Written(unittest.TestCase):
    """Pages of a copy of the lab with results of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ("lab/README.md", "lab/pages.toml", "lab/workloads", "lab/runtimes"):
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(
                ROOT / part, self.place(part)
            )
        (self.root / "docs" / "results").mkdir(parents=True)

    def place(self, part):
        path = self.root / part
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def add(self, name, found):
        save(found, self.root / "docs" / "results" / name)

    def page(self, workload):
        status, out, _ = call("bench", "pages", "--root", str(self.root))
        self.assertEqual(status, 0, out)
        return (self.root / "docs" / "benchmarks" / f"{workload}.md").read_text()

    def test_page_has_rows_with_interval_version_time_of_processors_and_memory(self):
        self.add("RESULTS.json", example(threads=(2,)))
        text = self.page("fib")
        self.assertIn("Commit 1234 of 2026-01-01, on 4 CPUs: Example CPU", text)
        row = next(line for line in text.splitlines() if line.startswith("| rayon "))
        texts = [one.strip() for one in row.strip("|").split("|")]
        self.assertEqual((texts[2], texts[3]), ("2", "6"))
        self.assertRegex(texts[5], r"^0\.\d+ to 0\.\d+$")
        self.assertEqual(texts[-2:], ["1.2", "4"])
        self.assertIn("Sennit, 2 workers: 0.66 times the time of the best peer, rayon, 2", text)
        self.assertIn("citor, 2 workers, fib(39): not found below citor_ROOT", text)

    def test_newest_results_of_each_size_count(self):
        old, new = example(jobs=(("fib", "39"), ("fib", "32"))), example(jobs=(("fib", "39"),))
        new["machine"] = ABOUT | {"commit": "5678", "date": "2026-02-01"}
        self.add("a.json", old)
        self.add("b.json", new)
        text = self.page("fib")
        self.assertIn("Size 39. Commit 5678 of 2026-02-01", text)
        self.assertIn("Size 32. Commit 1234 of 2026-01-01", text)

    def test_rows_of_a_workload_with_figures_are_ordered_by_the_first_figure(self):
        cells = [
            cell(name, "metg-fft", "50", [sample(i, seconds, metg_us=us) for i in range(6)])
            for name, seconds, us in (("sennit", 1.0, 2.0), ("onetbb", 3.0, 0.5))
        ]
        run, plan = Run(cells, [], "complete"), Plan([], [], [2], 6, 1, 5.0)
        self.add("a.json", document(run, plan, ABOUT))
        text = self.page("metg-fft")
        self.assertLess(text.index("| oneTBB "), text.index("| Sennit "))
        self.assertIn("4.00 times the `metg_us` of the best peer, oneTBB, 2 workers", text)

    def test_ratio_has_mark_of_its_certainty(self):
        few = [cell(name, "fib", "39", [sample(0, 1.0)]) for name in ("sennit", "rayon")]
        self.assertEqual(verdict(few).shown, "1.00 ?")
        many = [
            cell(name, "fib", "39", [sample(i, 1.0 + 0.1 * (i % 2)) for i in range(8)])
            for name in ("sennit", "rayon")
        ]
        self.assertEqual(verdict(many).shown, "1.00 =")
        self.assertIsNone(verdict([cell("serial", "fib", "39", [sample(0, 1.0)])]))

    def test_changed_source_makes_its_page_stale(self):
        self.page("fib")
        self.assertEqual(stale(self.root), [])
        source = self.root / "lab" / "workloads" / "fib.hpp"
        source.write_text(source.read_text().replace("if (n < 2)", "if (n <= 1)"))
        self.assertEqual(stale(self.root), ["fib.md"])
        status, out, _ = call("bench", "pages", "--check", "--root", str(self.root))
        self.assertEqual(
            (status, out),
            (1, ["docs/benchmarks/fib.md is out of date; ./sennit bench pages writes it"]),
        )

    def test_page_of_a_workload_that_is_gone_is_removed(self):
        self.page("fib")
        gone = self.root / "docs" / "benchmarks" / "gone.md"
        gone.write_text("# gone\n")
        self.assertEqual(stale(self.root), ["gone.md"])
        self.page("fib")
        self.assertFalse(gone.exists())


if __name__ == "__main__":
    unittest.main()
