# SPDX-License-Identifier: Apache-2.0
"""Tests of lab/sweep/sweep.py, which measures the programs of a pack: its jobs, its tables, and
whole sweeps over a folder of small scripts.
"""

import importlib.util
import io
import json
import os
import sys
import tempfile
import time
import tomllib
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from lab_case import ROOT, is_alive

FOLDER = ROOT / "lab" / "sweep"
SPEC = importlib.util.spec_from_file_location("sweep", FOLDER / "sweep.py")
sweep = importlib.util.module_from_spec(SPEC)
sys.modules["sweep"] = sweep  # dataclasses look their module up
SPEC.loader.exec_module(sweep)

GOOD = 'echo "{\\"answer\\": 1, \\"expected\\": 1, \\"seconds\\": 0.00$3, \\"tasks\\": 10}"'
PROGRAMS = {
    "lab-good": GOOD,
    "lab-wrong": 'echo "{\\"answer\\": 2, \\"expected\\": 1, \\"seconds\\": 0.5}"; exit 1',
    "lab-fails": 'echo "the library is too old" >&2; exit 3',
    "lab-silent": "echo no result",
    "lab-hangs": 'sleep 60 & echo $! > "$PID_FILE"; wait',
    "timed": 'echo "{\\"program\\": \\"timed\\", \\"time\\": $1, \\"unit\\": \\"us\\"}"',
    "says": 'echo "{\\"time\\": 1, \\"seen\\": \\"$SETTING $LD_LIBRARY_PATH\\"}"',
}


def result(threads, seconds=0.001, status="ok", arguments="fib 39 W", program="lab-good"):
    rows = [{"answer": 1, "expected": 1, "seconds": seconds}] if seconds else []
    told = {"group": "forks", "program": program, "arguments": arguments, "threads": threads}
    return told | {"command": [program], "rows": rows, "status": status}


class ThreadCounts(unittest.TestCase):
    def test_each_name_stands_for_counts(self):
        for wanted, counts in {
            "all": [1, 2, 4, 8, 16],
            "parallel": [2, 4, 8, 16],
            "half": [8, 16],
            "ends": [1, 16],
            "one": [1],
            "top": [16],
            "over": [32, 64],
        }.items():
            self.assertEqual(sweep.thread_counts(16, wanted), counts, wanted)

    def test_number_of_processors_need_not_be_power_of_two(self):
        self.assertEqual(sweep.thread_counts(12, "all"), [1, 2, 4, 8, 12])
        self.assertEqual(sweep.thread_counts(12, "half"), [6, 12])

    def test_one_processor_has_no_parallel_counts(self):
        self.assertEqual(sweep.thread_counts(1, "all"), [1])
        self.assertEqual(sweep.thread_counts(1, "parallel"), [])
        self.assertEqual(sweep.thread_counts(1, "half"), [1])

    def test_unknown_name_is_refused_with_all_names(self):
        with self.assertRaisesRegex(ValueError, "must be one of all, .*, over, not 'most'"):
            sweep.thread_counts(2, "most")


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "there").touch()

    def commands(self, processors=4, **group):
        group = {"name": "a", "threads": "all", "programs": ["there"], "arguments": ["W"]} | group
        found = sweep.jobs({"group": [group]}, processors, self.folder)
        return [job.command()[1:] for job in found]

    def test_arguments_follow_number_of_threads(self):
        self.assertEqual(
            self.commands(arguments=["W 8 2W 64W W/4 in"]),
            [
                ["1", "8", "2", "64", "1", "in"],
                ["2", "8", "4", "128", "1", "in"],
                ["4", "8", "8", "256", "1", "in"],
            ],
        )

    def test_words_that_only_look_like_counts_stay(self):
        self.assertEqual(self.commands(1, arguments=["WW xW W/x T1"]), [["WW", "xW", "W/x", "T1"]])

    def test_program_that_is_missing_has_no_jobs(self):
        self.assertEqual(self.commands(1, programs=["elsewhere", "there"]), [["1"]])

    def test_equal_commands_of_group_run_once(self):
        self.assertEqual(self.commands(2, arguments=["W 1", "W W/4"]), [["1", "1"], ["2", "1"]])

    def test_jobs_that_differ_in_threads_only_have_equal_keys(self):
        group = {"name": "a", "threads": "all", "programs": ["there"]}
        group["arguments"] = ["skynet 8 W", "skynet 4 W"]
        found = sweep.jobs({"group": [group]}, 8, self.folder)
        self.assertEqual(len({job.key() for job in found}), 2)

    def test_description_names_runtimes_and_programs_of_lab(self):
        description = tomllib.loads((FOLDER / "jobs.toml").read_text())
        for group in description["group"]:
            with self.subTest(group["name"]):
                sweep.thread_counts(16, group["threads"])
                for program in group["programs"]:
                    runtime = program.removeprefix("lab-")
                    place = (
                        FOLDER / "programs" / f"{program}.cpp"
                        if runtime == program
                        else ROOT / "lab" / "runtimes" / runtime / "runtime.toml"
                    )
                    self.assertTrue(place.is_file(), place)
        names = [group["name"] for group in description["group"]]
        self.assertEqual(len(names), len(set(names)))


class Tables(unittest.TestCase):
    def lines(self, *results):
        return sweep.tables(results).splitlines()[1:]

    def test_line_has_figure_of_each_number_of_threads(self):
        head, line = self.lines(result(1, 0.4), result(8, 0.1), result(8, 0.3))
        self.assertEqual(head.split(), ["1", "8"])
        self.assertEqual(line.split(), "forks: good fib 39 W 400 200 0.500 0.500".split())

    def test_argument_that_equals_number_of_threads_makes_no_line_of_its_own(self):
        lines = self.lines(*(result(n, arguments="skynet 8 W") for n in (1, 8, 16)))
        self.assertEqual(len(lines), 2)
        self.assertIn("forks: good skynet 8 W", lines[1])

    def test_arguments_that_grow_with_threads_are_one_line(self):
        lines = self.lines(*(result(n, arguments="W timers 64W 50") for n in (1, 2, 4)))
        self.assertEqual(len(lines), 2)

    def test_wrong_answer_has_no_figure(self):
        _, line = self.lines(result(1), result(2), result(2, status="wrong answer"))
        self.assertEqual(line.split()[5:], ["1", "wrong", "1.000", "1.000"])

    def test_cell_without_figure_says_why(self):
        _, line = self.lines(
            result(1), result(2, 0, "time limit"), result(4, 0, "failed"), result(8, 0.002)
        )
        self.assertEqual(line.split()[5:], ["1", "time", "failed", "2", "1.000", "2.000"])

    def test_run_that_budget_cut_off_is_no_failure(self):
        _, line = self.lines(result(1), result(1, 0, sweep.CUT))
        self.assertEqual(line.split()[5], "1")

    def test_rows_without_figure_are_left_out(self):
        machine = result(2, 0, program="membarrier_cost") | {"rows": [{"p50_us": 3}]}
        self.assertEqual(len(self.lines(machine, result(1))), 2)


class Sweeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"
        (self.folder / "bin").mkdir()
        for name, text in PROGRAMS.items():
            path = self.folder / "bin" / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)

    def sweep(self, *options, budget=30, **groups):
        """Runs the groups, each given as the text of its keys in jobs.toml. Returns (status, lines
        of the results without the first one, standard output).
        """
        text = "".join(f'[[group]]\nname = "{name}"\n{keys}\n' for name, keys in groups.items())
        (self.folder / "jobs.toml").write_text(text)
        arguments = ["--budget", str(budget), "--processors", "2", "--out", str(self.out), *options]
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            status = sweep.main(self.folder, arguments)
        results = self.out / "results.jsonl"
        text = results.read_text() if results.exists() else ""
        lines = [json.loads(one) for one in text.splitlines()]
        self.first, self.err = lines[0] if lines else None, err.getvalue()
        return status, lines[1:], out.getvalue()

    @staticmethod
    def group(*programs, more=""):
        return (
            f'threads = "one"\npasses = 1\nprograms = {json.dumps(programs)}\n'
            f'arguments = ["fib 39 W"]\n{more}'
        )

    def test_results_begin_with_machine_and_hold_each_pass(self):
        (self.folder / "about.json").write_text('{"commit": "1234567"}')
        keys = self.group("lab-good").replace("passes = 1", "passes = 3").replace("one", "all")
        status, lines, out = self.sweep(a=keys)
        self.assertEqual(status, 0)
        self.assertEqual(self.first["group"], "the machine")
        self.assertEqual(self.first["built"], {"commit": "1234567"})
        self.assertGreaterEqual(self.first["processors"], 1)
        self.assertEqual(
            [(one["threads"], one["pass"]) for one in lines],
            [(threads, number) for number in range(3) for threads in (1, 2)],
        )
        self.assertTrue(all(one["status"] == "ok" for one in lines))
        self.assertIn("6 runs", out)
        table = (self.out / "tables.txt").read_text().splitlines()[-1]
        self.assertEqual(table.split(), "a: good fib 39 W 1 2 1.000 2.000".split())

    def test_failures_have_reasons_and_do_not_run_again(self):
        programs = ("lab-wrong", "lab-fails", "lab-silent", "lab-good")
        keys = self.group(*programs).replace("passes = 1", "passes = 2")
        status, lines, out = self.sweep(a=keys)
        self.assertEqual(status, 1, "a wrong answer")
        self.assertEqual(
            [(one["program"], one["status"], one.get("error")) for one in lines[:3]],
            [
                ("lab-wrong", "wrong answer", None),
                ("lab-fails", "failed", "exit status 3: the library is too old"),
                ("lab-silent", "failed", "exit status 0: printed no result"),
            ],
        )
        self.assertEqual([one["program"] for one in lines[3:]], ["lab-good", "lab-good"])
        self.assertIn("lab-fails fib 39 1: failed exit status 3", out)
        self.assertIn("3 without result", out)

    def test_time_limit_ends_all_processes_of_run(self):
        pid_file = self.folder / "pid"
        limits = f'limit = 0.5\nenvironment = {{PID_FILE = "{pid_file}"}}'
        begin = time.monotonic()
        _, lines, _ = self.sweep(a=self.group("lab-hangs", "lab-good", more=limits))
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual([one["status"] for one in lines], ["time limit", "ok"])
        self.assertFalse(is_alive(int(pid_file.read_text())))

    def test_end_of_budget_cuts_run_off_without_failure(self):
        limits = f'environment = {{PID_FILE = "{self.folder / "pid"}"}}'
        _, lines, out = self.sweep(budget=4, a=self.group("lab-hangs", more=limits))
        self.assertEqual([one["status"] for one in lines], [sweep.CUT])
        self.assertIn("0 without result", out)

    def test_used_up_budget_begins_no_run(self):
        status, lines, _ = self.sweep(budget=1, a=self.group("lab-good"))
        self.assertEqual((status, lines), (0, []))
        self.assertTrue((self.out / "tables.txt").exists())

    def test_program_that_cannot_start_is_failure(self):
        (self.folder / "bin" / "lab-good").chmod(0o644)
        _, lines, _ = self.sweep(a=self.group("lab-good"))
        self.assertEqual([one["status"] for one in lines], ["failed"])
        self.assertIn("Permission denied", lines[0]["error"])

    def test_environment_of_group_and_libraries_of_pack_reach_program(self):
        _, lines, _ = self.sweep(a=self.group("says", more='environment = {SETTING = "on"}'))
        setting, path = lines[0]["rows"][0]["seen"].split(" ")
        self.assertEqual(setting, "on")
        self.assertEqual(path.split(os.pathsep)[0], str(self.folder / "lib"))

    def test_figure_of_programs_of_sweep_is_time(self):
        keys = self.group("timed").replace('"fib 39 W"', '"7 W"')
        self.sweep(a=keys)
        table = (self.out / "tables.txt").read_text().splitlines()[-1]
        self.assertEqual(table.split(), "a: timed 7 W 7 1.000 1.000".split())

    def test_groups_can_be_chosen(self):
        groups = {"a": self.group("lab-good"), "b": self.group("timed")}
        _, lines, _ = self.sweep("--groups", "b", **groups)
        self.assertEqual({one["group"] for one in lines}, {"b"})
        self.out = self.folder / "none"
        status, lines, _ = self.sweep("--groups", "b,c", **groups)
        self.assertEqual((status, lines), (2, []))
        self.assertEqual(self.err, "sweep: jobs.toml has no group 'c'\n")

    def test_list_runs_nothing(self):
        status, lines, out = self.sweep("--list", a=self.group("lab-good"))
        self.assertEqual((status, lines, out), (0, [], "a: lab-good fib 39 1\n"))

    def test_folder_without_programs_gives_one_line(self):
        status, _, out = self.sweep(a=self.group("elsewhere"))
        self.assertEqual((status, out), (2, ""))
        self.assertIn("has no program of these groups", self.err)


if __name__ == "__main__":
    unittest.main()
