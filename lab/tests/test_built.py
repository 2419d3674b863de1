# SPDX-License-Identifier: Apache-2.0
"""The real thing at small sizes: builds `serial` and `sennit`, and runs every C++ runtime that is built."""

import json
import shutil
import subprocess
import unittest

from lab_case import ROOT, SENNIT
from harness.answers import expected
from harness.execute import run_once

SMALL = (("fib", "12"), ("skynet", "3"), ("nqueens", "6"), ("matmul", "64"), ("uts", "TT"))


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("cmake", "g++"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")

    def test_the_contract_from_another_folder(self):
        for runtime, threads in (("serial", 1), ("sennit", 2)):
            with self.subTest(runtime):
                done = subprocess.run([SENNIT, "run", runtime, "fib", "20", "--threads", "2", "--compiler", "g++"], cwd="/",
                                      text=True, capture_output=True, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.count("\n"), 1)
                line = json.loads(done.stdout)
                self.assertEqual((line["runtime"], line["workload"], line["size"], line["threads"], line["ok"]),
                                 (runtime, "fib", 20, threads, True))
                self.assertEqual((line["answer"], line["tasks"]), (6765, 21891))
                self.assertGreater(line["peak_rss_kib"], 0)

    def test_every_built_runtime_gives_right_answers(self):
        programs = sorted((ROOT / "build" / "lab").glob("*/lab/lab-*"))
        tasks = {}
        for program in programs:
            name = program.name.removeprefix("lab-")
            for workload, size in SMALL:
                for threads in (1,) if name == "serial" else (1, 2):
                    with self.subTest(program=str(program.relative_to(ROOT)), workload=workload, threads=threads):
                        result = run_once([str(program)], name, workload, size, threads)
                        self.assertTrue(result["ok"], (result["answer"], expected(workload, size)))
                        self.assertEqual(tasks.setdefault(workload, result["tasks"]), result["tasks"])


if __name__ == "__main__":
    unittest.main()
