# SPDX-License-Identifier: Apache-2.0
"""The real thing at small sizes: builds runtimes that need no library but Sennit, and runs all that they have."""

import json
import shutil
import subprocess
import unittest

from lab_case import ROOT, SENNIT
from harness.answers import expected
from harness.catalogue import RUNTIMES, WORKLOADS
from harness.execute import Failed, run_once

SMALL = {"fib": "12", "skynet": "3", "nqueens": "6", "matmul": "64", "uts": "TT", "skynet-channel": "100",
         "fiber-yield": "101", "fiber-create": "100", "channel-rendezvous": "101", "channel-buffered": "1000",
         "mutex-free": "1000", "mutex-contended": "1003", "condition": "101", "fibers-blocked": "100", "sleepers": "100",
         "select-two": "101", "timer-lateness": "20", "timers-cancelled": "100",
         "thread-ring": "1000", "parallel-thread-ring": "2000", "ping-pong": "101", "counting-actor": "1001",
         "producer-consumer": "103", "prime-factors": "20", "mixed-scenario": "2010", "skynet-actor": "1000",
         "fan-in": "205", "spawn-storm": "100", "ring-work": "1000",
         "cycle": "1003", "churn": "1003", "locality": "1003", "locality-share": "1003", "transfer": "5",
         "resume": "100", "yield": "100", "mutex": "100", "create": "100",
         **{f"{what}-{count}": "100" for what in ("monitor", "signal", "accept") for count in (1, 2, 4)}}
CONTRACT = (  # what to run, threads that it has, answer, tasks
    (("serial", "fib", "20"), 1, 6765, 21891), (("sennit", "fib", "20"), 2, 6765, 21891),
    (("sennit-fiber", "skynet-channel", "1000"), 2, 499500, 1111), (("std-thread", "condition", "101"), 2, 101, 101),
    (("sennit-actor", "thread-ring", "1000"), 2, 498, 1000), (("sennit-coroutine", "resume", "100"), 2, 100, 100),
    (("sennit-monitor", "accept-2", "100"), 2, 100, 100))
BUILT = tuple(dict.fromkeys(what[0] for what, *_ in CONTRACT))


def programs():
    for name in BUILT:  # others may be there, but outdated
        yield ROOT / "build" / "lab" / "g++" / "lab" / f"lab-{name}", name


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("cmake", "g++"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        cls.ran = {what: subprocess.run([SENNIT, "run", *what, "--threads", "2", "--compiler", "g++"], cwd="/",
                                        text=True, capture_output=True, stdin=subprocess.DEVNULL)
                   for what, *_ in CONTRACT}  # builds them

    def test_the_contract_from_another_folder(self):
        for what, threads, answer, tasks in CONTRACT:
            with self.subTest(what):
                done = self.ran[what]
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.count("\n"), 1)
                line = json.loads(done.stdout)
                self.assertEqual((line["runtime"], line["workload"], str(line["size"])), what)
                self.assertEqual((line["threads"], line["ok"]), (threads, True))
                self.assertEqual((line["answer"], line["tasks"]), (answer, tasks))
                self.assertGreater(line["peak_rss_kib"], 0)

    def test_every_built_runtime_gives_right_answers(self):
        tasks = {}
        for program, name in programs():
            for workload in RUNTIMES[name].offers:
                size = SMALL[workload]
                for threads in (1,) if name == "serial" else (1, 2):
                    with self.subTest(program=str(program.relative_to(ROOT)), workload=workload, threads=threads):
                        result = run_once([str(program)], name, workload, size, threads)
                        self.assertTrue(result["ok"], (result["answer"], expected(workload, size)))
                        self.assertEqual(tasks.setdefault(workload, result["tasks"]), result["tasks"])

    def test_no_built_runtime_has_what_the_catalogue_denies(self):
        for program, name in programs():
            for workload in set(WORKLOADS) - set(RUNTIMES[name].offers):
                with self.subTest(program=str(program.relative_to(ROOT)), workload=workload):
                    with self.assertRaisesRegex(Failed, f"no workload is called '{workload}'"):
                        run_once([str(program)], name, workload, SMALL[workload], 1)


if __name__ == "__main__":
    unittest.main()
