# SPDX-License-Identifier: Apache-2.0
"""Tests of `run` and `list`: the line of JSON on which scripts rely, and one clear line for each
failure.
"""

import json
import unittest
from unittest import mock

from lab_case import FakeBuilder, call

KEYS = [
    "runtime",
    "workload",
    "size",
    "threads",
    "answer",
    "ok",
    "seconds",
    "tasks",
    "peak_rss_kib",
    "cpu_seconds",
    "voluntary_switches",
    "involuntary_switches",
]
BAD_INPUT = {
    "run": "required",
    "run serial": "required",
    "run unknown fib": "no runtime is called 'unknown'",
    "run serial fob": "no workload is called 'fob'",
    "run serial fib abc": "size must be a number",
    "run serial fib 51": "size must be a number from 0 to 50",
    "run serial fib -1": "size must be a number",
    "run serial fib ²": "size must be a number",
    "run serial nqueens 0": "size must be a number from 1 to 16",
    "run serial matmul 33": "power of two",
    "run serial uts T2": "size must be one of T1, T3, T1L, T3L, TT",
    "run serial skynet-channel": (
        "serial has no skynet-channel; it has: fib, skynet, nqueens, matmul, uts"
    ),
    "run sennit-fiber fib": "sennit-fiber has no fib; it has: skynet-channel",
    "run boost-fiber select-two": "boost-fiber has no select-two",
    "run sennit-fiber skynet-channel 1001": "power of ten",
    "run sennit-fiber skynet-channel 0": "size must be a number from 1 to 100000000",
    "run sennit-fiber condition 0": "size must be a number from 1 to 999999999",
    "run sennit-fiber fibers": "no workload is called 'fibers'",
    "run serial fib 30 40": "unrecognized arguments: 40",
    "run serial fib --thread 1": "unrecognized arguments: --thread",
    "run serial fib --threads": "expected one argument",
    "run sennit fib --threads 0": "--threads must be a number from 1 to 1024, not '0'",
    "run sennit fib --threads abc": "--threads must be a number",
    "run sennit fib --threads 1025": "--threads must be a number",
    "run sennit fib --threads 1000000": "--threads must be a number",
    "run sennit fib --time-limit 0": "--time-limit must be a number of seconds",
    "run sennit fib --time-limit nan": "--time-limit must be a number of seconds",
    "run sennit fib --time-limit inf": "--time-limit must be a number of seconds",
    "run sennit fib --compiler no-such-compiler": (
        "the compiler 'no-such-compiler' is not installed"
    ),
    "list everything": "unrecognized arguments: everything",
    "list --compiler no-such-compiler": "the compiler 'no-such-compiler' is not installed",
    "bench fib": "invalid choice: 'fib'",
    "bench --quickly": "unrecognized arguments: --quickly",
    "bench --workloads fib,": "no workload is called ''",
    "bench --workloads fibers,": "no workload is called ''",
    "bench --runtimes sennit-fiber": (
        "none of the runtimes sennit-fiber has one of the workloads fib"
    ),
    "bench --runtimes unknown": "no runtime is called 'unknown'",
    "bench --threads 1,0": "--threads must be a number",
    "bench --reps 0": "--reps must be a number from 1 to 1000",
    "bench --reps ²": "--reps must be a number",
    "bench --seed x": "--seed must be a number",
    "bench --time-limit never": "--time-limit must be a number of seconds",
}


def run_fakes(behaviours, *arguments):
    with mock.patch("harness.cli.Builder", lambda compiler: FakeBuilder(behaviours)):
        return call(*arguments)


class BadInput(unittest.TestCase):
    def test_bad_input_gives_one_clear_line_and_status_2(self):
        for text, message in BAD_INPUT.items():
            with self.subTest(text):
                status, out, err = call(*text.split())
                self.assertEqual((status, out, len(err)), (2, [], 1), err)
                self.assertTrue(err[0].startswith("sennit: "), err)
                self.assertIn(message, err[0])


class Run(unittest.TestCase):
    def test_line_has_keys_of_contract_in_order(self):
        status, out, err = run_fakes(
            {"sennit": "good"}, "run", "sennit", "fib", "30", "--threads", "3"
        )
        self.assertEqual((status, len(out), err), (0, 1, []))
        line = json.loads(out[0])
        self.assertEqual(list(line), KEYS)
        self.assertTrue(
            all(
                isinstance(line.pop(f"{how}_switches"), int) for how in ("voluntary", "involuntary")
            )
        )
        self.assertEqual(
            line,
            {
                "runtime": "sennit",
                "workload": "fib",
                "size": 30,
                "threads": 3,
                "answer": 832040,
                "ok": True,
                "seconds": 0.25,
                "tasks": 7,
                "peak_rss_kib": 1000,
                "cpu_seconds": 0.5,
            },
        )

    def test_fiber_workloads_keep_contract(self):
        status, out, _ = run_fakes(
            {"sennit-fiber": "good"},
            "run",
            "sennit-fiber",
            "fiber-create",
            "832040",
            "--threads",
            "2",
        )
        self.assertEqual((status, list(json.loads(out[0]))), (0, KEYS))

    def test_size_of_uts_is_name(self):
        _, out, _ = run_fakes({"sennit": "good"}, "run", "sennit", "uts")
        self.assertEqual(json.loads(out[0])["size"], "T1")

    def test_serial_has_one_thread(self):
        _, out, _ = run_fakes({"serial": "good"}, "run", "serial", "fib", "30", "--threads", "8")
        self.assertEqual(json.loads(out[0])["threads"], 1)

    def test_wrong_answer_prints_line_and_fails(self):
        status, out, err = run_fakes({"sennit": "wrong"}, "run", "sennit", "fib", "30")
        self.assertEqual(
            (status, len(out), err), (1, 1, ["sennit: sennit fib(30): wrong answer 832041"])
        )
        self.assertIs(json.loads(out[0])["ok"], False)

    def test_failure_prints_one_clear_line_and_no_result(self):
        for behaviours, message in (
            ({"sennit": "crash"}, "Segmentation fault"),
            ({"sennit": "refuse"}, "no threads left"),
            ({"sennit": "hang"}, "did not finish within 0.2 s"),
            ({}, "sennit is not installed: no such library"),
        ):
            with self.subTest(message):
                status, out, err = run_fakes(
                    behaviours,
                    "run",
                    "sennit",
                    "fib",
                    "30",
                    "--time-limit",
                    "0.2" if "hang" in behaviours.values() else "60",
                )
                self.assertEqual((status, out, len(err)), (1, [], 1), err)
                self.assertIn(message, err[0])


class List(unittest.TestCase):
    def test_each_runtime_is_available_or_has_reason(self):
        status, out, _ = run_fakes({"serial": "good"}, "list")
        self.assertEqual(status, 0)
        self.assertTrue(any(line.split() == ["serial", "C++", "available"] for line in out), out)
        self.assertTrue(
            any("java-vt" in line and "not installed: no such library" in line for line in out), out
        )
        self.assertTrue(any(line.split()[:3] == ["fib", "default", "39,"] for line in out), out)
        runs_it = (
            next(line for line in out if line.split()[0] == "select-two")
            .partition("; in ")[2]
            .split(", ")
        )
        self.assertEqual(
            ("sennit-fiber" in runs_it, "go" in runs_it, "boost-fiber" in runs_it),
            (True, True, False),
            runs_it,
        )


if __name__ == "__main__":
    unittest.main()
