# SPDX-License-Identifier: Apache-2.0
"""A runtime that misbehaves becomes a reason, and leaves nothing behind."""

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
    def test_context_switches_of_the_child_are_counted(self):
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

    def test_hanging_program_is_stopped_at_the_time_limit(self):
        with self.assertRaisesRegex(Failed, "did not finish within 0.5 s"):
            once("hang", time_limit=SHORT)

    def test_children_of_a_hanging_program_are_stopped_with_it(self):
        os.mkfifo(self.pid_file)  # reading it waits for the child
        children = []

        def watch_until_child_runs(*_):
            children.append(int(self.pid_file.read_text()))
            return "did not finish"

        with mock.patch("harness.limits._watch", watch_until_child_runs):
            outcome = run_limited(fake("hang_with_child"))
        self.assertEqual((outcome.limit, outcome.status), ("did not finish", -9))
        self.assertFalse(is_alive(children[0]))

    def test_children_that_a_good_program_leaves_are_stopped(self):
        self.assertTrue(once("leave_child")["ok"])
        self.assertFalse(is_alive(int(self.pid_file.read_text())))

    def test_memory_of_the_program_is_limited(self):
        with self.assertRaisesRegex(Failed, "stopped at the memory limit of 150 MiB"):
            once("eat_memory", memory_limit_kib=LOW_KIB)

    def test_memory_of_its_children_counts(self):
        with self.assertRaisesRegex(Failed, "stopped at the memory limit of 150 MiB"):
            once("eat_memory_in_child", memory_limit_kib=LOW_KIB)

    def test_a_workload_may_have_a_memory_limit_of_its_own(self):
        for workload, limit in (("fib", MEMORY_LIMIT_KIB), ("fibers-blocked", 12 << 20)):
            with (
                mock.patch("harness.execute.run_limited", side_effect=OSError) as run,
                self.assertRaises(Failed),
            ):
                run_once(fake("good"), "sennit", workload, "30", 1)
            self.assertEqual(run.call_args.args[2], limit)

    def test_each_misbehaviour_has_its_reason(self):
        for behaviour, reason in MISBEHAVIOURS.items():
            with self.subTest(behaviour), self.assertRaisesRegex(Failed, reason):
                once(behaviour)

    def test_program_that_cannot_be_started_is_a_reason(self):
        with self.assertRaisesRegex(Failed, "cannot be started: No such file"):
            run_once(["/nonexistent/program"], "serial", "fib", "30", 1)

    def test_wrong_answer_is_a_result_that_is_not_ok(self):
        result = once("wrong")
        self.assertEqual((result["ok"], result["answer"]), (False, 832041))

    def test_program_that_talks_much_is_not_held_up(self):
        self.assertTrue(once("talk")["ok"])

    def test_what_a_program_prints_is_limited(self):
        for behaviour in ("talk_for_ever", "talk_too_much"):
            with (
                self.subTest(behaviour),
                self.assertRaisesRegex(Failed, "^printed more than 64 MiB$"),
            ):
                once(behaviour)

    def test_a_full_disk_does_not_matter(self):
        with mock.patch(
            "tempfile.TemporaryFile", side_effect=OSError(errno.ENOSPC, "No space left on device")
        ):
            self.assertTrue(once("good")["ok"])

    def test_interruption_ends_the_group(self):
        with mock.patch("harness.limits._watch", side_effect=KeyboardInterrupt) as watch:
            with self.assertRaises(KeyboardInterrupt):
                run_limited(fake("hang"))
        self.assertFalse(is_alive(watch.call_args.args[0].pid))


if __name__ == "__main__":
    unittest.main()
