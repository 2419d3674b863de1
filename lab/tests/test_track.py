# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench track`: the history keeps each run, and a report says what changed since the run
before on the same kind of machine, with a mark where the samples show no difference.
"""

import json
import tempfile
import unittest
from pathlib import Path

from example_results import ABOUT, example
from lab_case import ROOT, call
from harness.bench import Cell, Plan, Run
from harness.declared import UsageError
from harness.document import document, save
from harness.track import HISTORY, Entry, changes, former, read

BROKEN = {
    "h, line 1 is not JSON": "{",
    "h, line 1 is no run of a history": "[]",
    "h, line 1 has version 2; this lab reads version 1": {"version": 2},
    "h, line 1 is broken: its rows are not lists of samples": {"rows": [["sennit", 1]]},
    "h, line 1 is broken: its rows are not lists": {"rows": [["sennit", "fib", "9", 2, [0]]]},
    "h, line 1 is broken: it has no 'cpu'": {"rows": [], "date": "a", "commit": "b"},
}
FIB = ("sennit", "fib", "39", 2)


def a_run(commit, seconds, samples=8, date="2026-01-01", **about):
    """Results with a row of Sennit, a row of a peer, and a row of the control."""
    cells = []
    for name in ("sennit", "rayon", "serial"):
        cell = Cell(name, "fib", "39", 1 if name == "serial" else 2)
        cell.samples = [
            {
                "seconds": (seconds if name == "sennit" else 1.0) * (1 + 0.001 * block),
                "cpu_seconds": 1.0,
                "tasks": 10,
                "answer": 1,
                "peak_rss_kib": 4000,
                "block": block,
                "position": 0,
            }
            for block in range(samples)
        ]
        cells.append(cell)
    about = ABOUT | {"commit": commit, "date": date} | about
    return document(Run(cells, [], "complete"), Plan([], [], [2], samples, 1, 5.0), about)


class Track(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def track(self, results=None):
        arguments = ["bench", "track", "--root", str(self.root)]
        if results:
            save(results, self.root / "RESULTS.json")
            arguments.insert(2, str(self.root))
        status, out, err = call(*arguments)
        return status, "\n".join(out), "\n".join(err)

    def lines(self):
        return self.root.joinpath(*HISTORY).read_text().splitlines()

    def test_first_run_has_nothing_to_compare_with(self):
        status, out, _ = self.track(a_run("a", 1.0))
        self.assertEqual(status, 0)
        self.assertIn("appended: commit a of 2026-01-01, 2 rows", out)
        self.assertIn("no run before on this kind of machine", out)
        line = json.loads(self.lines()[0])
        self.assertEqual((line["commit"], line["cpu"], line["cores"]), ("a", "Example CPU", 4))
        self.assertEqual([row[:4] for row in line["rows"]], [list(FIB), ["serial", "fib", "39", 1]])
        self.assertEqual(line["rows"][0][4][:2], [1.0, 1.001])

    def test_slower_run_is_called_slower_and_control_stands_apart(self):
        self.track(a_run("a", 1.0))
        status, out, _ = self.track(a_run("b", 1.2))
        self.assertEqual((status, len(self.lines())), (0, 2))
        self.assertIn("Since commit a of 2026-01-01, on 4 CPUs (Example CPU):", out)
        self.assertIn("slower: 1\n", out)
        self.assertRegex(out, r"Sennit, fib\(39\), 2 workers, s +1\.003 +1\.204 +1\.200\n")
        control = out.partition("The control")[2]
        self.assertRegex(control, r"plain function, fib\(39\), 1 worker, s .* 1\.000 =\n")
        self.assertNotIn("rayon", out)

    def test_workload_with_figures_is_followed_by_its_first_figure(self):
        for commit, us in (("a", 2.0), ("b", 3.0)):
            results = a_run(commit, 1.0)
            for cell in results["cells"]:
                cell |= {"workload": "metg-fft", "size": "50"}
                for number, sample in enumerate(cell["samples"]):
                    sample["figures"] = {"metg_us": us + 0.001 * number}
            out = self.track(results)[1]
        self.assertRegex(out, r"Sennit, metg-fft\(50\), 2 workers, metg_us .* 3\.00\d .* 1\.499\n")

    def test_faster_run_is_called_faster(self):
        self.track(a_run("a", 1.0))
        self.assertIn("faster: 1\n", self.track(a_run("b", 0.8))[1])

    def test_equal_runs_show_no_difference(self):
        self.track(a_run("a", 1.0))
        out = self.track(a_run("b", 1.0001))[1]
        self.assertIn("no difference shown: 1\n", out)
        self.assertRegex(out, r"2 workers, s .* 1\.000 =\n")

    def test_few_samples_give_no_verdict(self):
        self.track(a_run("a", 1.0))
        out = self.track(a_run("b", 2.0, samples=3))[1]
        self.assertIn("too few samples for a verdict: 1\n", out)
        self.assertRegex(out, r"2 workers, s .* 1\.995 \?\n")

    def test_run_on_another_kind_of_machine_is_passed_over(self):
        self.track(a_run("a", 1.0))
        out = self.track(a_run("b", 3.0, cpu="Other CPU"))[1]
        self.assertIn("no run before on this kind of machine", out)
        self.track(a_run("c", 3.0, cores=8))
        out = self.track(a_run("d", 1.1))[1]
        self.assertIn("Since commit a ", out)
        self.assertEqual(len(self.lines()), 4)

    def test_run_without_common_row_is_passed_over(self):
        self.track(a_run("a", 1.0))
        self.track(example(jobs=(("skynet", "8"),)))
        self.assertIn("Since commit a ", self.track(a_run("b", 1.0))[1])

    def test_change_of_compiler_is_told(self):
        self.track(a_run("a", 1.0))
        out = self.track(a_run("b", 1.0, compiler="clang++"))[1]
        self.assertIn("other compiler: g++, now clang++\n", out)

    def test_rows_that_one_run_lacks_are_counted(self):
        self.track(example(jobs=(("fib", "39"), ("skynet", "8")), threads=(2,)))
        out = self.track(a_run("b", 1.0))[1]
        self.assertIn("Rows only now: 0; rows only before: 2.", out)

    def test_newest_changes_are_shown_again_without_results(self):
        self.track(a_run("a", 1.0))
        before = self.track(a_run("b", 1.2))[1].partition("\n")[2]
        status, out, _ = self.track()
        self.assertEqual((status, out, len(self.lines())), (0, before, 2))

    def test_run_is_appended_once(self):
        self.track(a_run("a", 1.0))
        status, _, err = self.track(a_run("a", 1.0))
        self.assertEqual((status, len(self.lines())), (2, 1))
        self.assertIn("the history has the run of commit a of 2026-01-01 already", err)

    def test_results_without_sennit_and_empty_history_are_refused(self):
        results = a_run("a", 1.0)
        results["cells"] = [one for one in results["cells"] if one["runtime"] == "rayon"]
        status, _, err = self.track(results)
        self.assertEqual(status, 2)
        self.assertIn("no figure of Sennit", err)
        self.assertFalse(self.root.joinpath(*HISTORY).exists())
        status, _, err = self.track()
        self.assertEqual(status, 2)
        self.assertIn("the history is empty; ./sennit bench track FOLDER appends", err)

    def test_broken_line_gives_one_line(self):
        head = {"format": "sennit-lab-history", "version": 1}
        for message, line in BROKEN.items():
            text = line if isinstance(line, str) else json.dumps(head | line)
            with self.subTest(message), self.assertRaisesRegex(UsageError, message):
                read(text, "h")

    def test_line_can_be_read_back(self):
        one = Entry({"date": "d", "commit": "c", "cpu": "x", "cores": 2}, {FIB: [1.0, 2.0]})
        self.assertEqual(read(f"{one.line}\n", "h"), [one])
        self.assertIsNone(former([one], one))
        self.assertEqual(changes(one, one)[0].found.ratio, 1)

    def test_committed_history_can_be_read(self):
        path = ROOT.joinpath(*HISTORY)
        self.assertTrue(read(path.read_text(), str(path)))


if __name__ == "__main__":
    unittest.main()
