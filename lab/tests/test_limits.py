# SPDX-License-Identifier: Apache-2.0
"""Tests of the limits: a runtime that misbehaves gives a reason, and leaves no process behind."""

import errno
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import fake, is_alive
from harness.execute import Failed, run_once
from harness.limits import MEMORY_LIMIT_KIB, run_limited

SHORT, LONG = 0.5, 60.0  # seconds
LOW_KIB = 150 << 10
MISBEHAVIOURS = {
    "crash": r"ended by signal 11 \(Segmentation fault\)",
    "refuse": "ended with status 1: no threads left",
    "right_but_failed": "ended with status 1: broke at the end",
    "silent": "printed 0 lines instead of one",
    "two_lines": "printed 2 lines instead of one",
    "no_json": "printed no result: done",
    "no_seconds": "printed no result",
    "nan_seconds": "printed no result",
}


def once(behaviour, **limits):
    return run_once(fake(behaviour), "serial", "fib", "30", 1, **{"time_limit": LONG, **limits})


class Switches(unittest.TestCase):
    def test_run_counts_context_switches_of_child(self):
        waits = run_limited(
            [
                sys.executable,
                "-c",
                "import subprocess; [subprocess.run(['true']) for _ in range(20)]",
            ],
            LONG,
        )
        self.assertEqual(waits.status, 0)
        self.assertGreaterEqual(waits.voluntary_switches, 20)
        self.assertGreaterEqual(waits.involuntary_switches, 0)


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pid_file = Path(folder.name, "pid")
        environment = mock.patch.dict(os.environ, FAKE_PID_FILE=str(self.pid_file))
        environment.start()
        self.addCleanup(environment.stop)

    def test_time_limit_stops_hanging_program(self):
        with self.assertRaisesRegex(Failed, "did not finish within 0.5 s"):
            once("hang", time_limit=SHORT)

    def test_limit_stops_children_of_hanging_program(self):
        os.mkfifo(self.pid_file)  # reading the FIFO waits for the child
        children = []

        def watch_until_child_runs(*_):
            children.append(int(self.pid_file.read_text()))
            return "did not finish"

        with mock.patch("harness.limits._watch", watch_until_child_runs):
            outcome = run_limited(fake("hang_with_child"))
        self.assertEqual((outcome.limit, outcome.status), ("did not finish", -9))
        self.assertFalse(is_alive(children[0]))

    def test_harness_stops_children_that_good_program_leaves(self):
        self.assertTrue(once("leave_child")["ok"])
        self.assertFalse(is_alive(int(self.pid_file.read_text())))

    def test_memory_limit_stops_program(self):
        with self.assertRaisesRegex(Failed, "stopped at the memory limit of 150 MiB"):
            once("eat_memory", memory_limit_kib=LOW_KIB)

    def test_memory_limit_counts_memory_of_children(self):
        with self.assertRaisesRegex(Failed, "stopped at the memory limit of 150 MiB"):
            once("eat_memory_in_child", memory_limit_kib=LOW_KIB)

    def test_workload_may_declare_its_own_memory_limit(self):
        for workload, limit in (("fib", MEMORY_LIMIT_KIB), ("fibers-blocked", 12 << 20)):
            with (
                mock.patch("harness.execute.run_limited", side_effect=OSError) as run,
                self.assertRaises(Failed),
            ):
                run_once(fake("good"), "sennit", workload, "30", 1)
            self.assertEqual(run.call_args.args[2], limit)

    def test_each_misbehaviour_gives_its_reason(self):
        for behaviour, reason in MISBEHAVIOURS.items():
            with self.subTest(behaviour), self.assertRaisesRegex(Failed, reason):
                once(behaviour)

    def test_unstartable_program_gives_reason(self):
        with self.assertRaisesRegex(Failed, "cannot be started: No such file"):
            run_once(["/nonexistent/program"], "serial", "fib", "30", 1)

    def test_wrong_answer_gives_result_that_is_not_ok(self):
        result = once("wrong")
        self.assertEqual((result["ok"], result["answer"]), (False, 832041))

    def test_long_error_output_does_not_block_program(self):
        self.assertTrue(once("talk")["ok"])

    def test_output_limit_stops_program(self):
        for behaviour in ("talk_for_ever", "talk_too_much"):
            with (
                self.subTest(behaviour),
                self.assertRaisesRegex(Failed, "^printed more than 64 MiB$"),
            ):
                once(behaviour)

    def test_run_survives_full_disk(self):
        with mock.patch(
            "tempfile.TemporaryFile", side_effect=OSError(errno.ENOSPC, "No space left on device")
        ):
            self.assertTrue(once("good")["ok"])

    def test_interruption_ends_process_group(self):
        with mock.patch("harness.limits._watch", side_effect=KeyboardInterrupt) as watch:
            with self.assertRaises(KeyboardInterrupt):
                run_limited(fake("hang"))
        self.assertFalse(is_alive(watch.call_args.args[0].pid))


if __name__ == "__main__":
    unittest.main()
