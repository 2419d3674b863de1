# SPDX-License-Identifier: Apache-2.0
"""Tests of real programs at small sizes: all workloads of the runtimes that need no library but
Sennit.

The programs come from the build folder that SENNIT_LAB_BUILD names, which `./sennit test` sets.
Without it, the tests build the programs. SENNIT_LAB_PEERS names other runtimes that the tests build
and run, as in SENNIT_LAB_PEERS=caf,go; `all` stands for all installed runtimes."""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path
from unittest import mock

from lab_case import ROOT, SENNIT
from harness.answers import expected
from harness.build import Builder, NotInstalled, under_client
from harness.catalogue import RUNTIMES, WORKLOADS
from harness.execute import Failed, run_once

CONTRACT = (  # command, threads of the run, answer, tasks
    (("serial", "fib", "20"), 1, 6765, 21891),
    (("sennit", "fib", "20"), 2, 6765, 21891),
    (("sennit", "integrate", "100"), 2, 25005, 779923),
    (("sennit", "graph-chain", "100"), 2, 5950, 1000),
    (("sennit", "pipeline-linear", "10"), 2, 715, 10),
    (("sennit-fiber", "skynet-channel", "1000"), 2, 499500, 1111),
    (("std-thread", "condition", "101"), 2, 101, 101),
    (("sennit-actor", "thread-ring", "1000"), 2, 498, 1000),
    (("sennit-coroutine", "resume", "100"), 2, 100, 100),
    (("sennit-monitor", "accept-2", "100"), 2, 100, 100),
    (("sennit-task", "io-echo-16", "100"), 2, 100, 100),
    (("epoll", "io-echo-16", "100"), 2, 100, 100),
    (("sennit-fiber", "io-files-16", "100"), 2, 100, 100),
)
BUILT = tuple(dict.fromkeys(what[0] for what, *_ in CONTRACT))
MORE = ("sennit-generator", "pthread", "std-async")  # run only if they are built already
OPTIONAL = ("sennit-http", "sennit-tls", "epoll-tls")  # those, too, if their libraries are found
BUILDS = ROOT / "build" / "lab" / "g++"
PREBUILT = os.environ.get("SENNIT_LAB_BUILD")
PEERS = os.environ.get("SENNIT_LAB_PEERS", "")


def programs():
    for name in (*BUILT, *(MORE if PREBUILT else ())):  # other programs may exist, but outdated
        yield Path(PREBUILT or BUILDS, "lab", f"lab-{name}"), name
    for name in OPTIONAL if PREBUILT else ():
        if (program := Path(PREBUILT, "lab", f"lab-{name}")).exists():
            yield program, name


def sennit_run(*arguments, **variables):
    return subprocess.run(
        [SENNIT, "run", *arguments, "--threads", "2", "--compiler", "g++"],
        cwd="/",
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | variables,
    )


def need_compiler():
    for tool in ("cmake", "g++"):
        if not shutil.which(tool):
            raise unittest.SkipTest(f"{tool} is not installed")


class Building(unittest.TestCase):
    def test_run_builds_needed_program_and_plans_those_of_sennit(self):
        need_compiler()
        done = sennit_run("serial", "fib", "20", SENNIT_LAB_BUILD="")
        self.assertEqual(
            (done.returncode, json.loads(done.stdout)["answer"]), (0, 6765), done.stderr
        )
        self.assertIn("building serial (g++)", done.stderr)
        if not (BUILDS / "build.ninja").exists():
            self.skipTest("the test needs ninja to list the steps of the build")
        plan = subprocess.run(
            ["ninja", "-C", BUILDS, "-n", "-v", "lab-sennit", "lab-sennit-actor"],
            text=True,
            capture_output=True,
        )
        self.assertEqual(plan.returncode, 0, plan.stdout + plan.stderr)

    def test_folder_without_programs_gives_reason(self):
        done = sennit_run("serial", "fib", "20", SENNIT_LAB_BUILD="/nonexistent")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(
            "serial is not installed: /nonexistent/lab/available.txt: No such file", done.stderr
        )


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_compiler()
        cls.ran = {what: sennit_run(*what) for what, *_ in CONTRACT}  # builds the programs

    def test_run_from_another_folder_keeps_contract(self):
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
                size = WORKLOADS[workload].small
                for threads in (1,) if name == "serial" else (1, 2):
                    with self.subTest(program=str(program), workload=workload, threads=threads):
                        client = WORKLOADS[workload].client
                        command = under_client(Builder(), client, [str(program)])
                        result = run_once(command, name, workload, size, threads)
                        self.assertTrue(result["ok"], (result["answer"], expected(workload, size)))
                        self.assertEqual(
                            tasks.setdefault(workload, result["tasks"]), result["tasks"]
                        )

    def test_built_runtime_refuses_workload_outside_catalogue(self):
        for program, name in programs():
            for workload in set(WORKLOADS) - set(RUNTIMES[name].offers):
                with self.subTest(program=str(program), workload=workload):
                    with self.assertRaisesRegex(Failed, f"no workload is called '{workload}'"):
                        run_once([str(program)], name, workload, WORKLOADS[workload].small, 1)


SWEEP = {  # program of lab/sweep/programs -> arguments of a short run
    "phases": ("2 100 10 5 in", "2 100 10 5 out"),
    "phases_serial": ("2 100 10 5",),
    "little_parallelism": ("2 1 10 0.01",),
    "long_leaves": ("2 1 3 50 10 3",),
    "actor_spawn": ("2 100 1 short", "2 100 1 long"),
    "remote_free": ("1 600", "3 600"),
    "waiting_fibers": ("2 timers 4 2", "2 forks 2 10 100"),
    "membarrier_cost": ("1",),
    "futex_wake": ("1",),
    "processor_sharing": ("0.01",),
    "polled_line": ("1",),
    "spin_locks": ("1",),
}
COUNTERS = {"wakes", "barriers", "parks", "crossings", "steals", "tasks_stolen", "tasks_injected"}


@unittest.skipUnless(PREBUILT, "no programs are built")
class Sweep(unittest.TestCase):
    def test_every_program_prints_rows(self):
        for name, runs in SWEEP.items():
            for arguments in runs:
                with self.subTest(name, arguments=arguments):
                    done = subprocess.run(
                        [Path(PREBUILT, "lab", "sweep", name), *arguments.split()],
                        text=True,
                        capture_output=True,
                        timeout=60,
                    )
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    rows = [json.loads(line) for line in done.stdout.splitlines()]
                    self.assertTrue(rows)
                    self.assertEqual({row["program"] for row in rows}, {name})
                    for row in rows:
                        self.check_row(row)

    def check_row(self, row):
        """A row with a main figure says what it is of; a row of Sennit has its counters."""
        if "time" not in row:
            return
        self.assertGreater(row["time"], 0)
        self.assertTrue(row["unit"] in ("us", "ns") and row["of"])
        self.assertTrue(row.get("ideal", 0) > 0 or row.get("pieces", 0) > 0, row)
        if row["program"] != "phases_serial":
            self.assertLessEqual(COUNTERS, set(row["counters"]))

    def test_every_source_is_listed_with_runtimes_that_are_built(self):
        listed = set(Path(PREBUILT, "lab", "sweep.txt").read_text().split())
        self.assertLessEqual(set(SWEEP), listed)
        sources = {path.stem for path in (ROOT / "lab/sweep/programs").glob("*.cpp")}
        self.assertLessEqual(listed, sources)


@unittest.skipUnless(PEERS, "SENNIT_LAB_PEERS names none")
class Peers(unittest.TestCase):
    """Tests of the peers. They run only on request, since few machines have all tool chains and
    libraries, and since building takes minutes.
    """

    @classmethod
    def setUpClass(cls):
        cls.commands = {}
        with mock.patch.dict(os.environ, SENNIT_LAB_BUILD=""):
            builder = Builder()
            for name in (
                (name for name in RUNTIMES if not RUNTIMES[name].ours)
                if PEERS == "all"
                else PEERS.split(",")
            ):
                try:
                    cls.commands[name] = builder.command(name)
                except NotInstalled:
                    if PEERS != "all":
                        raise

    def test_every_peer_gives_right_answers(self):
        tasks = {}  # all peers do equal work
        for name, command in self.commands.items():
            for workload in RUNTIMES[name].offers:
                size = WORKLOADS[workload].small
                for threads in (1, 2):
                    with self.subTest(runtime=name, workload=workload, threads=threads):
                        called = under_client(Builder(), WORKLOADS[workload].client, command)
                        result = run_once(called, name, workload, size, threads)
                        self.assertTrue(result["ok"], (result["answer"], expected(workload, size)))
                        self.assertEqual(
                            tasks.setdefault(workload, result["tasks"]), result["tasks"]
                        )

    def test_peer_refuses_workload_outside_catalogue(self):
        for name, command in self.commands.items():
            if RUNTIMES[name].program:  # the program of another runtime, which may offer more
                continue
            for workload in set(WORKLOADS) - set(RUNTIMES[name].offers):
                with self.subTest(runtime=name, workload=workload):
                    # Some programs read the size before they look for the workload.
                    with self.assertRaisesRegex(Failed, f"'{workload}'"):
                        run_once(command, name, workload, "1", 1)


if __name__ == "__main__":
    unittest.main()
