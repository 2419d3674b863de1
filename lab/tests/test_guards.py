# SPDX-License-Identifier: Apache-2.0
"""Tests of the guards: the committed pages claim nothing that the committed results do not bear,
and each guard finds its mistake in a page.
"""

import unittest
from unittest import mock

from lab_case import ROOT
from harness import guards, marks
from harness.bench import Cell
from harness.catalogue import WORKLOADS
from harness.document import load, restore
from harness.publish import figures
from harness.report import markdown
from harness.seed_tables import markdown as seed_markdown
from harness.table import Results
from test_results import ABOUT, sample


def cell(runtime, threads, seconds, runs=6, cpus=2.0, workload="fib", size="39"):
    samples = [
        sample(seconds * (1 + 0.001 * block), block) | {"cpu_seconds": cpus * seconds}
        for block in range(runs)
    ]
    return Cell(runtime, workload, size, threads, samples)


def example(**changes):
    """Results in which each figure has six runs, and each row used its CPUs."""
    return Results(
        [
            cell("serial", 1, 0.2, cpus=1.0),
            cell("sennit", 1, 0.3, cpus=1.0),
            cell("sennit", 2, 0.15),
            cell("chili", 1, 0.4, cpus=1.0),
            cell("chili", 2, **{"seconds": 0.2} | changes),
        ]
    )


ALL_VERSIONS = ABOUT | {"version of chili": "1.0"}


class Committed(unittest.TestCase):
    def test_committed_pages_claim_nothing_that_results_do_not_bear(self):
        run, _, about = restore(load(ROOT / "docs" / "results"))
        self.assertEqual(guards.published(ROOT, Results(run.cells), about), [])


class Guards(unittest.TestCase):
    def setUp(self):
        patch = mock.patch("harness.marks.gaps", lambda: {})
        patch.start()
        self.addCleanup(patch.stop)

    def test_page_of_a_workload_with_few_runs_needs_marks_and_versions(self):
        page = (
            "| runtime | version | workers | runs | s |\n|---|---|--:|--:|--:|\n"
            "| chili | 1.0 | 2 | 3 | 0.2 |\n| rayon | – | 2 | 6 | 0.3 |\n"
            "| Go | 1.2 | 2 | 3 | 0.2 (n=3) |\n"
        )
        self.assertEqual(
            list(guards.of_workloads("fib.md", page)),
            [
                "fib.md: chili: '0.2' has 3 runs, and no mark",
                "fib.md: rayon has no version, and lab/gaps.toml no reason",
            ],
        )

    def only(self, found, *parts):
        """The guard has one message, which has these parts."""
        found = list(found)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_generated_pages_pass(self):
        for results in (example(), example(runs=3), example(seconds=0.5)):
            readme, page = figures(results, ALL_VERSIONS), markdown(results, ALL_VERSIONS)
            self.assertEqual(list(guards.unmarked("README.md", readme, results)), [])
            self.assertEqual(list(guards.hidden_peers("README.md", readme, results)), [])
            self.assertEqual(list(guards.few_runs("RESULTS.md", page, results)), [])
            self.assertEqual(list(guards.hidden_best("RESULTS.md", page, results)), [])
            self.assertEqual(list(guards.on_one_cpu(results)), [])
            self.assertEqual(list(guards.without_version(results, ALL_VERSIONS)), [])

    def test_readme_figure_without_number_of_runs(self):
        results = example(runs=3)
        readme = figures(results, ALL_VERSIONS)
        self.only(
            guards.unmarked("README.md", readme.replace(" (n=3)", ""), results),
            "README.md: fib(39): '0.2002 chili 1.0' lacks its mark 'n=3'",
        )

    def test_readme_ratio_without_mark(self):
        for results, mark in ((example(runs=3), " ?"), (example(seconds=0.15), " =")):
            readme = figures(results, ALL_VERSIONS)
            row = next(line for line in readme.splitlines() if line.startswith("| fib"))
            self.assertTrue(row.endswith(f"{mark} |"), row)
            found = readme.replace(row, row.replace(f"{mark} |", " |"))
            self.only(guards.unmarked("README.md", found, results), "README.md: fib(39): the ratio")

    def test_readme_figure_that_results_do_not_hold(self):
        results = example()
        readme = figures(results, ALL_VERSIONS).replace("| 0.2005 |", "| 0.2008 |")
        self.only(guards.unmarked("README.md", readme, results), "'0.2008' is no figure")

    def test_peer_with_several_threads_on_one_cpu(self):
        results = example(cpus=1.1)
        self.only(guards.on_one_cpu(results), "chili, 2 workers: fib(39): the row used 1.1")
        self.assertIn("chili 1.0 (one CPU)", figures(results, ALL_VERSIONS))
        serial = Results([cell("go", 2, 1.0, cpus=1.0, workload="thread-ring", size="50")])
        self.assertTrue(WORKLOADS["thread-ring"].serial)
        self.assertEqual(list(guards.on_one_cpu(serial)), [])

    def test_best_peer_at_fewer_workers_that_readme_hides(self):
        results = Results([*example().cells, cell("rayon", 1, 0.05, cpus=1.0)])
        readme, page = figures(example(), ALL_VERSIONS), markdown(example(), ALL_VERSIONS)
        self.only(
            guards.hidden_peers("README.md", readme, results),
            "README.md: fib(39): the fastest peer, rayon, 1 worker, is not shown",
        )
        self.only(
            guards.hidden_best("RESULTS.md", page, results), "rayon, 1 worker, is not called best"
        )
        self.assertIn("0.05013 rayon, 1 worker", figures(results, ALL_VERSIONS))

    def test_runtime_without_version(self):
        self.only(guards.without_version(example(), ABOUT), "chili: the results hold no version")

    def test_figure_of_few_runs_without_mark(self):
        results = example(runs=3)
        page = markdown(results, ALL_VERSIONS)
        self.only(
            guards.few_runs("RESULTS.md", page.replace(" (n=3)", ""), results),
            "RESULTS.md: chili, 2 workers, fib(39): '0.2002' has 3 runs",
        )

    def test_figure_of_seed_table_without_runs(self):
        found = load(ROOT / "docs" / "results")
        page = seed_markdown([found])
        self.assertEqual(list(guards.few_runs_of_seeds("seed-tables.md", page)), [])
        page = page.replace("2.372 to 2.401 (range), 3 runs", "2.372 to 2.401, 3 runs")
        self.only(guards.few_runs_of_seeds("seed-tables.md", page), "'2.376' says neither")

    def test_gap_that_results_no_longer_have(self):
        gaps = {
            "one_cpu": [{"runtimes": ["chili"], "workloads": ["fib"], "reason": "?"}],
            "version": [{"runtimes": ["chili"], "reason": "?"}],
        }
        with mock.patch("harness.guards.gaps", lambda: gaps):
            self.assertEqual(
                list(guards.stale_gaps(example(), ALL_VERSIONS)),
                [
                    "lab/gaps.toml: no row of chili fib used one CPU",
                    "lab/gaps.toml: chili has a version, or no figure",
                ],
            )

    def test_gap_gives_reason(self):
        self.assertIn("Boost.Fiber", marks.GAPS.read_text())


if __name__ == "__main__":
    unittest.main()
