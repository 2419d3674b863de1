# SPDX-License-Identifier: Apache-2.0
"""Tests of failures: each failure of one runtime is a row with its reason, and the other runtimes
are measured. The failures are broken builds, programs that use up the memory or print garbage,
missing tool chains, Ctrl-C in the middle, a full disk, and no time left.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from lab_case import ROOT, FakeBuilder, call, fake, is_alive, parsed
from harness import bench, bench_verbs, options
from harness.bench import Cell, Plan, Run
from harness.build import Builder, Cxx, NotInstalled, build_script, folder_of
from harness.catalogue import RUNTIMES, WORKLOADS
from harness.document import load
from test_results import sample

LOW_KIB = 150 << 10
SCRIPTS = {  # build.sh -> reason
    "echo 'no hare is not installed'": "^hare is not installed$",
    "echo broken; exit 1": "does not build, see .*hare.log",
    "echo ok /bin/true; exit 1": "does not build, see .*hare.log",
    "": "does not build, see .*hare.log",
    "printf '\\377\\376 garbage'": "does not build, see .*hare.log",
}
INTERRUPTED = """
import sys
sys.path[:0] = [{lab!r}, {tests!r}]
from unittest import mock
from lab_case import FakeBuilder, without_installers
from harness import cli
builder = FakeBuilder({{"serial": "good", "go": "hang_with_child"}})
with without_installers(), mock.patch("harness.bench_verbs.Builder", lambda compiler: builder), \\
        mock.patch("harness.bench_verbs.jobs_for", lambda *_: [("fib", "30")]):
    sys.exit(cli.main(["bench", "--runtimes", "serial,go", "--reps", "1", "--seed", "1",
                       "--out", {out!r}]))
"""


def let_go(process, fifo):
    """Releases a reader of the FIFO when the process ends."""
    process.wait()
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        pass  # no reader waits


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def bench(self, behaviours, *arguments):
        with (
            mock.patch("harness.bench_verbs.Builder", lambda compiler: FakeBuilder(behaviours)),
            mock.patch("harness.bench_verbs.jobs_for", lambda *_: [("fib", "30")]),
        ):
            return call(
                "bench",
                "--workloads",
                "fib",
                "--threads",
                "2",
                "--reps",
                "1",
                "--out",
                str(self.folder),
                *arguments,
            )

    def cells(self):
        return {
            cell["runtime"]: cell
            for cell in load(self.folder)["cells"]
            if cell["threads"] == 2 or cell["runtime"] == "serial"
        }


class Rows(WithFolder):
    def test_misbehaving_programs_are_rows_and_other_runtimes_are_measured(
        self,
    ):
        low = WORKLOADS | {"fib": replace(WORKLOADS["fib"], memory_limit_kib=LOW_KIB)}
        behaviours = {
            "serial": "good",
            "sennit": "good",
            "go": "eat_memory",
            "rayon": "no_json",
            "chili": "eat_memory_in_child",
        }
        with mock.patch("harness.execute.WORKLOADS", low):
            status, out, err = self.bench(behaviours, "--runtimes", "serial,sennit,go,rayon,chili")
        self.assertEqual(status, 0, err)
        cells = self.cells()
        for name, reason in (
            ("go", "stopped at the memory limit of 150 MiB"),
            ("chili", "stopped at the memory limit of 150 MiB"),
            ("rayon", "printed no result: done"),
        ):
            self.assertEqual((cells[name]["status"], cells[name]["reason"]), ("DNF", reason))
            self.assertTrue(any(reason in line for line in out), out)
        self.assertEqual([len(cells[name]["samples"]) for name in ("serial", "sennit")], [1, 1])

    def test_runtime_with_broken_build_is_row(self):
        class Breaking(FakeBuilder):
            def command(self, name):
                if name == "go":
                    raise NotInstalled("does not build, see go.log")
                return super().command(name)

        with mock.patch("test_misbehaviour.FakeBuilder", Breaking):
            status, out, err = self.bench({"serial": "good"}, "--runtimes", "serial,go")
        self.assertEqual(
            (status, self.cells()["go"]["reason"]), (0, "does not build, see go.log"), err
        )
        self.assertIn("Go: not installed: does not build, see go.log", out)

    def test_undecodable_answer_is_row(self):
        status, _, err = self.bench(
            {"serial": "good", "go": "surrogate"}, "--runtimes", "serial,go"
        )
        reason = self.cells()["go"]["reason"]
        self.assertEqual(
            (status, reason[:22], len(reason) < 200), (1, r"wrong answer '\ud800\u"[:22], True), err
        )

    def test_full_disk_gives_seed_tables_one_clear_line(self):
        self.bench({"serial": "good"}, "--runtimes", "serial")
        status, out, err = call("bench", "seed-tables", str(self.folder), "--out", "/dev/full")
        self.assertEqual(
            (status, out, err), (1, [], ["sennit: [Errno 28] No space left on device"])
        )


class Builds(WithFolder):
    def test_broken_build_script_gives_reason(self):
        place = self.folder / "lab" / "runtimes" / "hare"
        place.mkdir(parents=True)
        with (
            mock.patch("harness.build.ROOT", self.folder),
            mock.patch("harness.build.OUT", self.folder),
            mock.patch("sys.stderr"),
        ):
            for script, reason in SCRIPTS.items():
                with self.subTest(script):
                    (place / "build.sh").write_text(script)
                    with self.assertRaisesRegex(NotInstalled, reason):
                        build_script("hare")
            (place / "build.sh").write_text("echo version 3; echo ok /bin/true")
            self.assertEqual(build_script("hare"), (["/bin/true"], "3"))
            (place / "build.sh").write_text("echo ok /$SENNIT_LAB_PROCESSOR")
            self.assertEqual(build_script("hare"), (["/native"], ""))
            self.assertEqual(build_script("hare", "x86-64-v3"), (["/x86-64-v3"], ""))

    def test_endless_build_script_gives_reason_and_leaves_no_process(self):
        place = self.folder / "lab" / "runtimes" / "hare"
        place.mkdir(parents=True)
        (place / "build.sh").write_text(
            f"echo begun; sleep 1000 & echo $! >{self.folder}/child; wait"
        )
        with (
            mock.patch("harness.build.ROOT", self.folder),
            mock.patch("harness.build.OUT", self.folder),
            mock.patch("sys.stderr"),
            mock.patch("harness.build.TIME_LIMIT", 2.0),
            self.assertRaisesRegex(NotInstalled, "not built within 2 s, see .*hare.log"),
        ):
            build_script("hare")
        self.assertEqual((self.folder / "hare.log").read_text(), "begun\n")
        self.assertFalse(is_alive(int((self.folder / "child").read_text())))

    def test_failing_compiler_gives_reason(self):
        cmake = self.folder / "cmake"
        for script, reason in (
            ("exit 1", "CMake failed, see .*configure.log"),
            (
                '[ "$1" = -S ] || exit 1; mkdir -p "$4/lab"; '
                'printf "sennit\\tyes\\t\\t\\n" >"$4/lab/available.txt"',
                "does not build, see .*sennit.log",
            ),
        ):
            cmake.write_text(f"#!/bin/sh\n{script}\n")
            cmake.chmod(0o755)
            with (
                mock.patch.dict(
                    os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", SENNIT_LAB_BUILD=""
                ),
                mock.patch("harness.build.OUT", self.folder / "out"),
                mock.patch("sys.stderr"),
            ):
                with self.subTest(reason), self.assertRaisesRegex(NotInstalled, reason):
                    Cxx("sh").build("sennit")  # any existing program will do

    def with_cmake(self, script):
        """Installs `script` as CMake for the test. Returns the file in which the script records
        its calls.
        """
        calls = self.folder / "calls"
        (self.folder / "cmake").write_text(
            f'#!/bin/sh\necho "$*" >>{calls}\n[ "$1" = -S ] || exit 0\n{script}\n'
        )
        (self.folder / "cmake").chmod(0o755)
        context = contextlib.ExitStack()
        for one in (
            mock.patch.dict(
                os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", SENNIT_LAB_BUILD=""
            ),
            mock.patch("harness.build.OUT", self.folder / "out"),
            mock.patch("sys.stderr"),
        ):
            context.enter_context(one)
        self.addCleanup(context.close)
        return calls

    def test_peer_that_breaks_cmake_is_row_and_other_peers_are_built(self):
        self.with_cmake("""
            for option; do case $option in
                -DSENNIT_LAB_PROGRAMS=) exit 1 ;;
                -DSENNIT_LAB_PROGRAMS=*taskflow*) echo taskflow >&2; exit 1 ;;
                -DSENNIT_LAB_PROGRAMS=*) programs=${option#*=} ;;
            esac; done
            mkdir -p "$4/lab"
            echo "$programs" | tr ';' '\\n' | sed 's/$/\\tyes\\t\\t/' >"$4/lab/available.txt" """)
        cxx = Cxx("sh")
        self.assertRegex(cxx.why_not("taskflow"), "^CMake fails with it, see .*taskflow.log$")
        self.assertIn("taskflow", (cxx.folder / "taskflow.log").read_text())
        others = [
            name
            for name, one in RUNTIMES.items()
            if one.language == "C++" and not one.program and name != "taskflow"
        ]
        self.assertEqual([name for name in others if cxx.why_not(name)], [])

    def test_failing_cmake_runs_once(self):
        calls = self.with_cmake("exit 1")
        cxx = Cxx("sh")
        for name in ("serial", "sennit", "taskflow"):
            with self.assertRaisesRegex(NotInstalled, "CMake failed, see .*configure.log"):
                cxx.build(name)
        # One call configures all programs, and the other one only those of Sennit.
        self.assertEqual(len(calls.read_text().splitlines()), 2)

    def test_configuring_discards_cached_options_of_former_build(self):
        calls = self.with_cmake(
            'mkdir -p "$4/lab"; printf "sennit\\tyes\\t\\t\\n" >"$4/lab/available.txt"'
        )
        with mock.patch.dict(os.environ, CXXFLAGS="-pipe"):
            Cxx("sh").why_not("sennit")
        self.assertRegex(
            calls.read_text(), "-DCMAKE_CXX_FLAGS=-pipe .*-U SENNIT_LAB_\\* -DSENNIT_LAB_PROGRAMS="
        )

    def test_programs_for_another_processor_have_folder_of_their_own(self):
        calls = self.with_cmake(
            'mkdir -p "$4/lab"; printf "sennit\\tyes\\t\\t\\n" >"$4/lab/available.txt"; '
            'echo phases >"$4/lab/sweep.txt"'
        )
        cxx = Cxx("sh", "x86-64-v3")
        self.assertEqual(cxx.build_sweep("phases"), str(cxx.folder / "lab" / "sweep" / "phases"))
        self.assertIn("-DSENNIT_LAB_PROCESSOR=x86-64-v3", calls.read_text())
        self.assertIn("--target sweep-phases", calls.read_text())
        self.assertEqual(cxx.folder, self.folder / "out" / "x86-64-v3" / "sh")
        with self.assertRaisesRegex(NotInstalled, "a library that it needs is not found"):
            cxx.build_sweep("phases_onetbb")
        (cxx.folder / "lab" / "sweep.txt").unlink()
        with self.assertRaisesRegex(NotInstalled, "sweep.txt: No such file"):
            cxx.build_sweep("phases")

    def test_two_compilers_of_one_name_have_separate_folders(self):
        (self.folder / "sh").symlink_to("/bin/true")
        usual = folder_of("sh")
        self.assertEqual((usual.name, folder_of(shutil.which("sh"))), ("sh", usual))
        self.assertRegex(folder_of(str(self.folder / "sh")).name, "^sh-[0-9a-f]{8}$")

    def test_runtime_with_program_of_another_runs_it_in_its_own_environment(self):
        other = replace(RUNTIMES["go"], name="hare", program="go", environment=("A=1",))
        with (
            mock.patch.dict(RUNTIMES, hare=other),
            mock.patch("harness.build.OUT", self.folder),
            mock.patch("harness.build.build_script", lambda name, _: ([f"/{name}"], "3")),
        ):
            self.assertEqual(Builder().command("hare"), ["env", "A=1", "/go"])

    def test_every_build_script_names_missing_tool(self):
        for tool in ("bash", "dirname", "sed", "mkdir", "cp", "rm"):
            (self.folder / tool).symlink_to(shutil.which(tool))
        for name, runtime in RUNTIMES.items():
            wanted = {"Rust": ("cargo",)}.get(runtime.language, runtime.commands)
            if not wanted or runtime.program:
                continue
            with self.subTest(name):
                done = subprocess.run(
                    ["bash", ROOT / "lab" / "runtimes" / name / "build.sh", self.folder / "out"],
                    text=True,
                    capture_output=True,
                    env={"PATH": str(self.folder)},
                )
                self.assertRegex(
                    done.stdout.splitlines()[-1], rf"^no ({'|'.join(wanted)}) is not installed"
                )


class Interrupted(WithFolder):
    def test_signal_ends_run_and_keeps_results(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number.name):
                out, pid_file = self.folder / number.name, self.folder / f"{number.name}.pid"
                os.mkfifo(pid_file)
                text = INTERRUPTED.format(
                    lab=str(ROOT / "lab"), tests=str(ROOT / "lab" / "tests"), out=str(out)
                )
                process = subprocess.Popen(
                    [sys.executable, "-c", text],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"FAKE_PID_FILE": str(pid_file)},
                )
                threading.Thread(target=let_go, args=(process, pid_file)).start()
                child = int(pid_file.read_text())  # waits until the child runs
                process.send_signal(number)
                _, err = process.communicate()
                self.assertEqual(process.returncode, status, err)
                self.assertIn(f"sennit: interrupted; ./sennit bench --resume {out} goes on", err)
                self.assertNotIn("Traceback", err)
                self.assertFalse(is_alive(child))
                results = json.loads((out / "RESULTS.json").read_text())
                self.assertEqual(results["state"], "interrupted")
                self.assertTrue(all(cell["status"] == "ok" for cell in results["cells"]))


ALONE = """
import sys
sys.path[:0] = [{lab!r}, {tests!r}]
from unittest import mock
from lab_case import FakeBuilder, without_installers
from harness import cli
builder = FakeBuilder({{"serial": "good"}})
with without_installers(), mock.patch("harness.bench_verbs.Builder", lambda compiler: builder), \\
        mock.patch("harness.bench_verbs.jobs_for", lambda *_: [("fib", "30")]):
    sys.exit(cli.main(["bench", "--runtimes", "serial", "--reps", "1", "--out", {out!r}]))
"""


class WithoutReader(WithFolder):
    def bench_into(self, stream, errors, **variables):
        """Runs a bench with these streams, and returns its status."""
        text = ALONE.format(
            lab=str(ROOT / "lab"), tests=str(ROOT / "lab" / "tests"), out=str(self.folder)
        )
        return subprocess.run(
            [sys.executable, "-c", text], stdout=stream, stderr=errors, env=os.environ | variables
        ).returncode

    def whole(self):
        self.assertEqual(load(self.folder)["state"], "complete")
        for name in ("RESULTS.md", "RESULTS.csv", "RESULTS.html"):
            self.assertTrue((self.folder / name).is_file(), name)

    def test_bench_writes_files_although_pipe_has_no_reader(self):
        read, write = os.pipe()
        os.close(read)
        with open(write, "wb") as pipe:
            self.assertEqual(self.bench_into(pipe, pipe), 0)
        self.whole()

    def test_bench_writes_files_although_terminal_is_ascii(self):
        self.assertEqual(
            self.bench_into(subprocess.DEVNULL, subprocess.DEVNULL, PYTHONIOENCODING="ascii"), 0
        )
        self.whole()

    def test_nohup_keeps_hangup_ignored(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        self.assertEqual(call("run")[0], 2)
        self.assertEqual(signal.getsignal(signal.SIGHUP), signal.SIG_IGN)


class Time(WithFolder):
    def plan(self, **about):
        return Plan(["serial", "go"], [("fib", "30")], [1], 3, 1, 5.0, **about)

    def measured(self, run, plan, over, there=("serial", "go")):
        once = {
            key: value for key, value in sample(1.0).items() if key not in ("block", "position")
        } | {"ok": True}
        with (
            mock.patch("harness.bench.run_once", lambda *_: dict(once)),
            mock.patch("harness.bench.progress"),
            mock.patch("harness.bench.sentinel", lambda: 0.01),
            mock.patch("harness.bench.Forecast.over", over),
        ):
            bench.run_plan(plan, FakeBuilder({name: "good" for name in there}), run)

    def test_exhausted_budget_stops_runs_and_marks_rows_without_sample(self):
        run = Run()
        self.measured(
            run, self.plan(budget=60.0), mock.Mock(side_effect=[False, False, True, True])
        )
        self.assertEqual(
            sorted((len(cell.samples), cell.stopped, cell.reason) for cell in run.cells),
            [(0, None, bench.NO_TIME), (1, "budget", None)],
        )
        self.assertEqual(run.state, "interrupted")
        self.measured(run, self.plan(budget=60.0), lambda _: False)  # resumed
        self.assertEqual(
            (sorted(len(cell.samples) for cell in run.cells), run.state), ([1, 3], "complete")
        )

    def test_resume_keeps_samples_of_vanished_runtime(self):
        run = Run()
        self.measured(
            run, self.plan(budget=60.0), mock.Mock(side_effect=[False, False, True, True])
        )
        first, second = sorted(run.cells, key=lambda cell: len(cell.samples), reverse=True)
        self.measured(run, self.plan(budget=60.0), lambda _: False, there=())  # resumed
        self.assertEqual(
            (first.status, len(first.samples), first.stopped, first.reason),
            ("ok", 1, "budget", None),
        )
        self.assertEqual((second.status, second.reason), ("not installed", "no such library"))
        first.stopped = None  # as after an interruption
        self.measured(run, self.plan(budget=60.0), lambda _: False, there=())
        self.assertEqual((first.status, len(first.samples), first.stopped), ("ok", 1, "gone"))

    def test_ample_budget_changes_nothing(self):
        run = Run()
        self.measured(run, self.plan(budget=60.0), lambda _: False)
        self.assertEqual(
            ([len(cell.samples) for cell in run.cells], run.state), ([3, 3], "complete")
        )

    def test_forecast_is_at_most_budget(self):
        forecast = bench.Forecast([Cell("go", "fib", "30", 1)], self.plan(budget=60.0))
        forecast.took(forecast.cells[0], 1000.0)
        self.assertLessEqual(forecast.left(), 60.0)
        self.assertFalse(forecast.over())

    def test_long_block_is_saved_each_minute(self):
        saved = []
        with (
            mock.patch("harness.bench.SAVE_EVERY", -1.0),
            mock.patch("harness.bench.sentinel", lambda: 0.01),
            mock.patch("harness.bench.progress"),
        ):
            bench.run_plan(
                replace(self.plan(), reps=1),
                FakeBuilder({"serial": "good", "go": "good"}),
                Run(),
                lambda: saved.append(1),
            )
        self.assertEqual(len(saved), 3)  # after each run and after the block

    def test_quick_run_has_budget_and_records_it(self):
        given = parsed("--quick", "--workloads", "all")
        self.assertEqual((given.budget, given.workloads), (options.QUICK_BUDGET, list(WORKLOADS)))
        self.assertEqual(parsed().budget, options.BUDGET)
        self.assertEqual(parsed("--quick", "--full").budget, options.QUICK_BUDGET)
        limits = [
            parsed(*options).time_limit
            for options in ((), ("--full",), ("--quick",), ("--time-limit", "30"))
        ]
        self.assertEqual(limits, [15.0, 30.0, 10.0, 30.0])
        self.assertIsNone(parsed("--full").budget)
        status, _, err = self.bench({"serial": "good"}, "--runtimes", "serial", "--budget", "5")
        self.assertEqual((status, load(self.folder)["plan"]["budget"]), (0, 300.0), err)


class Pinning(WithFolder):
    def test_pinned_run_has_as_many_cpus_as_workers(self):
        if not shutil.which("taskset"):
            self.skipTest("taskset is not installed")
        command = bench.pinned(
            [sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"], 1
        )
        self.assertEqual(subprocess.run(command, text=True, capture_output=True).stdout, "1\n")

    def test_every_runtime_is_pinned_equally_and_results_record_it(self):
        seen = []

        def once(command, runtime, workload, size, threads, time_limit):
            seen.append((threads, command[:3]))
            return {
                key: value for key, value in sample(1.0).items() if key not in ("block", "position")
            } | {"ok": True}

        with mock.patch("harness.bench.run_once", once):
            self.bench({"serial": "good", "sennit": "good"}, "--runtimes", "serial,sennit", "--pin")
        cpus = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))]
        self.assertEqual(
            {(count, tuple(command)) for count, command in seen},
            {(count, ("taskset", "--cpu-list", ",".join(cpus[:count]))) for count in (1, 2)},
        )
        self.assertIs(load(self.folder)["plan"]["pin"], True)
        seen.clear()
        with mock.patch("harness.bench.run_once", once):
            self.bench({"serial": "good"}, "--runtimes", "serial")
        self.assertEqual(seen, [(1, fake("good")[:3])])


class Full(WithFolder):
    def test_full_run_holds_main_job_and_every_row_of_seed_tables(self):
        given = parsed("--full", "--out", str(self.folder))
        run, plan, about, _ = bench_verbs._begin(given)
        keys = [
            (cell.runtime, cell.workload, cell.size) for cell in run.cells if cell.status == "ok"
        ]
        for key in (
            ("sennit", "uts", "T3"),
            ("erlang", "thread-ring", "50000000"),
            ("boost-fiber-sharing", "skynet-channel", "100000"),
        ):
            self.assertIn(key, keys)
        self.assertEqual(
            len(set((cell.runtime, cell.workload, cell.size, cell.threads) for cell in run.cells)),
            len(run.cells),
        )
        self.assertTrue(about[bench_verbs.seed_measure.ROWS])
        self.assertFalse(parsed("--full", "--workloads", "fib").every_row)


if __name__ == "__main__":
    unittest.main()
