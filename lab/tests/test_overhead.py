# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench overhead`: the runs that it makes, and the figures that it computes from them.
The figures themselves need a quiet machine, so no test checks them.
"""

import sys
import unittest
from unittest import mock

from lab_case import FakeBuilder, call, fake
from harness import overhead
from harness.execute import Failed


class Overhead(unittest.TestCase):
    def measure(self, harness_seconds, bare_seconds):
        """Calls overheads() with runs that report these times and take no time."""
        clock = iter(range(1_000_000))
        with (
            mock.patch("harness.overhead.run_once", lambda *_: {"seconds": harness_seconds}),
            mock.patch("harness.overhead.bare", lambda _: {"seconds": bare_seconds}),
            mock.patch("harness.overhead.time.monotonic", lambda: next(clock) * 0.01),
        ):
            return overhead.overheads(["program"], 2, 6)

    def test_overhead_is_ratio_of_reported_times_and_difference_of_wall_times(self):
        (added, interval), (around, _) = self.measure(1.05, 1.0)
        for value in (added, *interval):
            self.assertAlmostEqual(value, 0.05)
        self.assertAlmostEqual(around, 0.0)

    def test_both_ways_run_equal_commands_in_turns(self):
        order = []
        with (
            mock.patch(
                "harness.overhead.run_once",
                lambda *given: order.append(("harness", *given[2:])) or {"seconds": 1.0},
            ),
            mock.patch(
                "harness.overhead.bare",
                lambda command: order.append(("bare", *command[1:])) or {"seconds": 1.0},
            ),
        ):
            overhead.pairs(["program"], ("fib", "39"), 2, 2)
        self.assertEqual([one[0] for one in order], ["harness", "bare", "bare", "harness"])
        self.assertEqual({tuple(map(str, one[1:])) for one in order}, {("fib", "39", "2")})

    def test_bare_program_is_started_and_read(self):
        self.assertEqual(overhead.bare(fake("good"))["answer"], 832040)
        with self.assertRaisesRegex(Failed, "failed"):
            overhead.bare([sys.executable, "-c", "raise SystemExit(3)"])

    def test_unmeasurable_overhead_gives_one_line(self):
        for behaviours, reason in (
            ({}, "no such library"),
            ({"sennit": "crash"}, "ended by signal 11"),
        ):
            with mock.patch("harness.overhead.Builder", lambda: FakeBuilder(behaviours)):
                status, out, err = call("bench", "overhead", "--reps", "6")
            self.assertEqual((status, out, len(err)), (1, [], 1))
            self.assertIn(reason, err[0])

    def test_excessive_overhead_is_reported_and_fails(self):
        quiet, loud = (
            ((0.001, (0.0, 0.002)), (0.004, (0.003, 0.005))),
            ((0.03, (0.02, 0.04)), (0.06, (0.05, 0.07))),
        )
        for found, status, said in ((quiet, 0, []), (loud, 1, ["time of a run", "time around it"])):
            with (
                mock.patch("harness.overhead.Builder", lambda: FakeBuilder({"sennit": "good"})),
                mock.patch("harness.overhead.overheads", lambda *_: found),
            ):
                got, out, err = call("bench", "overhead", "--reps", "6")
            self.assertEqual(
                (got, err),
                (status, [f"sennit: the harness adds too much to the {what}" for what in said]),
            )
            self.assertEqual(len(out), 2)
        self.assertEqual(
            call("bench", "overhead", "--reps", "5")[::2],
            (2, ["sennit: --reps must be a number from 6 to 1000, not '5'"]),
        )
        self.assertIn(
            "around a run: 60.0 ms, 95 % interval 50.0 to 70.0 ms; at most 50 ms are wanted", out
        )


if __name__ == "__main__":
    unittest.main()
