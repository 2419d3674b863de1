# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench sweep-page`: the reduced data of a sweep, and the page, which says nothing but
what its data say.
"""

import json
import tempfile
import unittest
from pathlib import Path

from lab_case import ROOT, call
from harness import sweep_data, sweep_page
from harness.catalogue import UsageError

MACHINE = {
    "group": "the machine",
    "kernel": "6.1.2-host-name",
    "lscpu": "Model name:  A processor\nModel:   207\nHypervisor vendor: KVM\n",
    "processors": 4,
    "load": [0, 0, 0],
    "date": "2026-11-27",
    "built": {"commit": "1234567", "versions": {"go": "go1.26", "rayon": "1.12, rustc 1.95"}},
}
COUNTERS = {"wakes": 4, "barriers": 2, "crossings": 30, "steals": 10}


def line(group, program, arguments, threads, *rows, status="ok"):
    command = [program, *arguments.replace("W", str(threads)).split()]
    told = {"group": group, "program": program, "arguments": arguments, "threads": threads}
    return told | {"command": command, "rows": list(rows), "status": status}


def lab(milliseconds, tasks=1000, **more):
    return {"answer": 1, "expected": 1, "seconds": milliseconds / 1e3, "tasks": tasks} | more


def own(time, **more):
    return {"unit": "us", "of": "a loop", "time": time} | more


def fib(threads, milliseconds, program="lab-sennit", group="forks"):
    return line(group, program, "fib 39 W", threads, lab(milliseconds))


def pairs(threads, milliseconds, program="lab-sennit-fiber", group="fibers"):
    return line(group, program, "pairs 1000 W", threads, lab(milliseconds, counters=COUNTERS))


def condition(threads, milliseconds):
    return line("fibers", "lab-sennit-fiber", "condition 1000 W", threads, lab(milliseconds))


def loops(threads, time, program="phases", ideal=100):
    return line("phases", program, "W 100 20 600 in", threads, own(time, ideal=ideal))


def reduced(*lines):
    return sweep_data.reduced([MACHINE, *lines])


def page(*lines):
    return sweep_page.markdown(reduced(*lines), "four-cores")


def between(text, beginning, end):
    return text[text.index(beginning) : text.index(end)]


class Reduction(unittest.TestCase):
    def test_figures_are_medians_with_their_number(self):
        data = reduced(fib(1, 10), fib(1, 30), fib(1, 90), fib(4, 5))
        (row,) = data.rows
        self.assertEqual(
            {n: (cell.time, cell.n) for n, cell in row.cells.items()}, {1: (30, 3), 4: (5, 1)}
        )
        self.assertEqual((row.tasks, row.operation(1), row.samples()), (1000, 30_000, "1–3"))
        self.assertEqual(data.machine["passes"], "1 (1 of 2 figures have more runs)")

    def test_counts_are_for_thousand_operations(self):
        cell = reduced(pairs(2, 1)).rows[0].cells[2]
        self.assertEqual(cell.counts, COUNTERS)
        told = {"wakes": 0.5, "barriers": 1, "steals": 2, "tasks_stolen": 3}
        cell = reduced(line("phases", "phases", "W 1", 2, own(1, counters=told))).rows[0].cells[2]
        self.assertEqual(cell.counts, {"wakes": 500, "barriers": 1000, "steals": 5000})

    def test_ideal_follows_from_program_pieces_or_workload(self):
        data = reduced(
            loops(4, 150), pairs(1, 8), pairs(4, 4), condition(1, 8), condition(4, 12),
            line("remote frees", "remote_free", "W 9", 1, own(80, pieces=1)),
            line("remote frees", "remote_free", "W 9", 4, own(80, pieces=2)),
        )  # fmt: skip
        self.assertEqual([row.ideal(4, 4) for row in data.rows], [100, 2, 8, 40])
        self.assertEqual([row.loss(4, 4) for row in data.rows], [1.5, 2, 1.5, 2])

    def test_parallel_ideal_stays_beyond_processors(self):
        row = reduced(pairs(1, 8), pairs(16, 4)).rows[0]
        self.assertEqual(row.ideal(16, 4), 2)

    def test_runs_without_result_give_no_figure(self):
        data = reduced(
            fib(1, 10),
            line("forks", "lab-sennit", "fib 39 W", 2, lab(10) | {"answer": 2},
                 status="wrong answer"),
            line("forks", "lab-sennit", "fib 39 W", 4, status="time limit"),
            line("forks", "lab-sennit", "fib 39 W", 4, status="cut off by the budget"),
        )  # fmt: skip
        self.assertEqual(list(data.rows[0].cells), [1])
        self.assertEqual(
            data.without_result,
            ["lab-sennit fib 39 2: wrong answer", "lab-sennit fib 39 4: time limit"],
        )

    def test_facts_name_no_host(self):
        facts = reduced(fib(1, 10)).machine
        self.assertEqual(facts["kernel"], "6.1.2")
        self.assertEqual(facts["cpu"], "A processor, model 207")
        self.assertEqual(facts["processors"], "4, virtual, under KVM")

    def test_file_of_data_comes_back(self):
        data = reduced(
            fib(1, 10), pairs(4, 3), loops(4, 150),
            line("remote frees", "remote_free", "W 9", 4, own(80, pieces=2, began_p90=3)),
            line("machine", "spin_locks", "", 4, {"program": "spin_locks", "ticket_ns": 12.34}),
            line("forks", "lab-sennit", "fib 39 W", 4, status="time limit"),
        )  # fmt: skip
        text = sweep_data.text_of(data)
        self.assertEqual(sweep_data.parsed(text), data)
        self.assertEqual(data.costs, {"spin_locks": [{"ticket_ns": 12.3}]})
        self.assertEqual(sweep_data.text_of(sweep_data.parsed(text)), text)

    def test_unusable_results_give_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "results.jsonl")
            for text, message in {
                None: "No such file",
                "": "does not begin with the description of a machine",
                "{": "Expecting property name",
                json.dumps(fib(1, 1)): "does not begin with",
                json.dumps(MACHINE): "the sweep has no result",
            }.items():
                if text is not None:
                    file.write_text(text)
                with self.subTest(text), self.assertRaisesRegex(UsageError, message):
                    sweep_data.reduced(sweep_data.lines_of(Path(folder)))


class Page(unittest.TestCase):
    def test_losses_come_first_and_largest_first(self):
        text = page(
            fib(1, 8), fib(4, 2), pairs(1, 8), pairs(4, 4), condition(1, 8), condition(4, 80)
        )
        losses = between(text, "## Losses", "## Forks")
        self.assertIn("1 of 3 rows of Sennit take longer with 4 workers than with one.", losses)
        slower = between(losses, "### Slower", "### Faster")
        self.assertIn(
            "| condition(1000) | Sennit fibers | 1 | ns | 8000 | 80000 | 10.00 | 10.00 |", slower
        )
        self.assertNotIn("pairs", slower)
        faster = losses[losses.index("### Faster") :]
        self.assertIn(
            "| pairs(1000) | Sennit fibers | 1 | ns | 8000 | 4000 | 0.50 | 2.00 |", faster
        )
        self.assertNotIn("fib(39)", faster, "a row without loss")

    def test_peers_stand_beside_sennit_furthest_behind_first(self):
        text = page(
            fib(4, 2), pairs(4, 4),
            fib(4, 5, "lab-rayon", "peers of forks"), fib(4, 4, "lab-chili", "peers of forks"),
            pairs(4, 2, "lab-go", "peers of fibers"),
        )  # fmt: skip
        self.assertIn("| fib(39) | ns | 1 | 2000 | 5000 | 4000 best | 0.50 |", text)
        self.assertIn("| pairs(1000) | ns | 1 | 4000 | 2000 best | 2.00 |", text)
        self.assertIn("slower than its best peer in 1 of 2 workloads", " ".join(text.split()))

    def test_sizes_may_differ_if_they_are_numbers(self):
        short = lab(1, tasks=100)
        text = page(
            pairs(4, 4), line("peers of fibers", "lab-go", "pairs 100 W", 4, short),
            line("forks", "lab-sennit", "uts T3 W", 4, lab(2)),
            line("peers of forks", "lab-rayon", "uts T1 W", 4, lab(9)),
        )  # fmt: skip
        self.assertIn("| pairs(1000) | ns | 1 | 4000 | 10000 best | 0.40 |", text)
        self.assertNotIn("9000 best", text)

    def test_loops_have_line_for_each_runtime_the_fastest_first(self):
        text = page(loops(2, 110), loops(4, 300), loops(4, 120, "phases_onetbb"))
        shown = between(text, "### Loops of 100 µs, gaps of 20 µs", "### Counts")
        self.assertLess(
            shown.index("| oneTBB | 1 | – | 120.0 | 100.0 | 1.20 |"),
            shown.index("| Sennit | 1 | 110.0 | 300.0 | 100.0 | 3.00 |"),
        )

    def test_few_runs_are_said(self):
        self.assertIn("Most figures are single runs", " ".join(page(fib(1, 8)).split()))
        self.assertNotIn("fewer than six", page(*[fib(1, 8)] * 6))

    def test_versions_and_reasons_are_shown(self):
        text = page(fib(1, 8), line("forks", "lab-sennit", "fib 39 W", 4, status="time limit"))
        self.assertIn("* peers: Go 1.26, rayon 1.12\n", text)
        self.assertIn("* lab-sennit fib 39 4: time limit\n", text)


class Committed(unittest.TestCase):
    def test_every_workload_of_data_has_ideal(self):
        for path in (ROOT / "docs" / "results").glob("*-cores.json"):
            data = sweep_data.parsed(path.read_text(encoding="utf-8"))
            for row in data.group("forks", "fibers", "actors"):
                self.assertIsNotNone(row.ideal(data.processors, data.processors), row.arguments)

    def test_each_page_agrees_with_its_data(self):
        files = list((ROOT / "docs" / "results").glob("*-cores.json"))
        self.assertTrue(files)
        for path in files:
            with self.subTest(path.name):
                text = path.read_text(encoding="utf-8")
                self.assertLess(len(text.encode()), 60_000)
                data = sweep_data.parsed(text)
                self.assertEqual(sweep_data.text_of(data), text)
                committed = (ROOT / "docs" / f"{path.stem}.md").read_text(encoding="utf-8")
                self.assertEqual(sweep_page.markdown(data, path.stem), committed)

    def test_command_writes_page_and_data_and_page_again(self):
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder, "results.jsonl")
            results.write_text("\n".join(map(json.dumps, [MACHINE, fib(1, 8), fib(4, 2)])))
            where = ["--root", folder, "--name", "four-cores"]
            status, out, err = call("bench", "sweep-page", folder, *where)
            self.assertEqual((status, err), (0, []))
            page_file = Path(folder, "docs", "four-cores.md")
            self.assertIn(f"written: {page_file}", out[0])
            first = page_file.read_text()
            page_file.unlink()
            self.assertEqual(call("bench", "sweep-page", *where)[0], 0)
            self.assertEqual(page_file.read_text(), first)

    def test_mistakes_get_one_line(self):
        for arguments, message in {
            ("--root", "/nonexistent"): "name the FOLDER of a sweep's results",
            ("--name", "../x"): "--name takes small letters, digits and '-', not '../x'",
        }.items():
            status, out, err = call("bench", "sweep-page", *arguments)
            self.assertEqual((status, out, len(err)), (2, [], 1), err)
            self.assertIn(message, err[0])


if __name__ == "__main__":
    unittest.main()
