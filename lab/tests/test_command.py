# SPDX-License-Identifier: Apache-2.0
"""./sennit itself: what it says, what it installs and how, with stand-ins for the tools that change the system."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from lab_case import ROOT, SENNIT

STAND_INS = {
    "dpkg-query": 'case " $MISSING " in *" ${*: -1} "*) exit 1 ;; *) echo installed ;; esac',
    "apt-get": 'echo "apt-get $* [$DEBIAN_FRONTEND] [$(cat)]" >&2; exit "${APT_STATUS:-0}"',
    "apt-cache": 'case $1 in search) printf "openjdk-%s-jdk-headless - x\\n" 17 25 ;; esac',
    "sudo": 'echo "sudo $*" >&2; [[ ${SUDO_WORKS:-yes} == yes ]] || exit 1; shift; exec "$@"',
    "id": 'echo "${USER_ID:-0}"',
    "go": "exit 0",
    "cargo": "exit 0",
    "rustc": "exit 0",
    "javac": "echo javac 25",
}
BAD_INPUT = {
    "frobnicate": "there is no verb 'frobnicate'",
    "--version": "there is no verb '--version'",
    "clean everything": "clean takes no options",
    "setup --peers": "--peers takes light or all, not ''",
    "setup --peers some": "--peers takes light or all, not 'some'",
    "setup tbb": "setup: unknown option 'tbb'",
    "test --fast": "test: unknown option '--fast'",
    "test --stages": "test: --stages needs a value",
    "run nobody fib": "no runtime is called 'nobody'",
    "run serial fib many": "size must be a number",
    "list all": "unrecognized arguments: all",
    "bench --workloads nothing": "no workload is called 'nothing'",
}


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in STAND_INS.items():
            self.stand_in(name, text)

    def stand_in(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(0o755)

    def call(self, *arguments, program=SENNIT, cwd="/", script=None, **variables):
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", **variables}
        done = subprocess.run([str(program), *([str(script)] if script else []), *arguments], cwd=cwd, env=environment, text=True, capture_output=True,
                              input="an answer that nobody asked for")
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def test_bad_input_gets_one_clear_line_and_installs_nothing(self):
        for text, message in BAD_INPUT.items():
            with self.subTest(text):
                status, out, err = self.call(*text.split(), MISSING="g++ cmake libtbb-dev clang-19")
                self.assertEqual((status, out, len(err)), (2, [], 1), err)
                self.assertTrue(err[0].startswith("sennit: "), err)
                self.assertIn(message, err[0])

    def test_help_explains_every_verb(self):
        for arguments in (["--help"], ["help"], [], ["bench", "--help"], ["test", "-h"], ["clean", "--help"]):
            with self.subTest(arguments):
                status, out, err = self.call(*arguments, MISSING="g++ libtbb-dev clang-19")
                self.assertEqual((status, err), (0, []))
                explained = {line.split()[0] for line in out if line.startswith("  ") and line[2] != " "}
                self.assertLessEqual({"bench", "test", "run", "list", "setup", "clean", "help"}, explained)

    def test_found_through_a_link_from_another_folder(self):
        link = self.folder / "link"
        link.symlink_to(SENNIT)
        self.assertEqual(self.call("help", program=link, cwd=self.folder), self.call("help"))

    def test_nothing_missing_installs_nothing(self):
        for arguments in (["setup"], ["setup", "--peers", "all"]):
            self.assertEqual(self.call(*arguments), (0, [], []))

    def test_root_installs_what_is_missing_after_saying_so(self):
        status, out, err = self.call("setup", MISSING="libtbb-dev ninja-build")
        self.assertEqual((status, out, len(err)), (0, [], 3), err)
        self.assertEqual(err[0].split(": ")[1:], ["installing Debian packages for Sennit and the light peers",
                                                  "ninja-build libtbb-dev "])
        self.assertRegex(err[1], r"^apt-get .*update \[noninteractive\] \[\]$")
        self.assertRegex(err[2], r"^apt-get .*install -y .*ninja-build libtbb-dev \[noninteractive\] \[\]$")

    def test_all_peers_are_what_the_runtimes_declare(self):
        status, _, err = self.call("setup", "--peers", "all", MISSING="libcaf-dev libboost-coroutine-dev libtbb-dev")
        self.assertEqual(status, 0, err)
        wanted = [line.split(": ")[1:] for line in err if line.startswith("sennit: installing")]
        self.assertEqual(wanted, [["installing Debian packages for Sennit and the light peers", "libtbb-dev "],
                                  ["installing Debian packages for the other peers", "libboost-coroutine-dev libcaf-dev "]])

    def test_a_full_run_installs_all_peers_and_others_the_light_ones(self):
        own = self.folder / "own"  # without the real lab: its Python only says what it was asked for
        own.mkdir()
        (own / "sennit").write_bytes(Path(SENNIT).read_bytes())
        self.stand_in("python3", '[[ $3 == packages ]] && echo "package-of-$4" || [[ $2 != harness ]] || echo "ran $*" >&2')
        for options, peers in ((["--full"], ["light", "all"]), ([], ["light"]), (["--full", "--workloads", "fib"], ["light"]),
                               (["--quick"], ["light"])):
            with self.subTest(options):
                status, _, err = self.call("bench", *options, program="bash", cwd=own, script=own / "sennit",
                                           MISSING="package-of-light package-of-all")
                self.assertEqual((status, err[-1]), (0, " ".join(["ran -m harness bench", *options])))
                installed = [which for which in ("light", "all") if any(line.endswith(f"package-of-{which} ") for line in err)]
                self.assertEqual(installed, peers, err)

    def test_a_signal_while_charts_are_installed_ends_the_bench_and_a_failure_does_not(self):
        own = self.folder / "own"
        own.mkdir()
        (own / "sennit").write_bytes(Path(SENNIT).read_bytes())
        for ended, status in ((130, 130), (1, 0)):
            self.stand_in("python3", f'[[ $3 != charts ]] || exit {ended}; [[ $2 != harness ]] || echo "ran $*" >&2')
            for arguments in (["bench", "--quick"], ["bench", "page", "FILE"]):
                with self.subTest(arguments, ended=ended):
                    found, _, err = self.call(*arguments, program="bash", cwd=own, script=own / "sennit")
                    self.assertEqual((found, " ".join(["ran -m harness", *arguments]) in err), (status, ended == 1), err)

    def test_other_users_install_through_sudo(self):
        status, _, err = self.call("setup", MISSING="libtbb-dev", USER_ID="1000")
        self.assertEqual(status, 0)
        self.assertEqual([line.split()[:2] for line in err if line.startswith("sudo")], [["sudo", "-n"]] * 2, err)
        self.assertTrue(any(line.startswith("apt-get") and "install -y" in line for line in err), err)

    def test_without_rights_it_says_what_to_run(self):
        status, _, err = self.call("setup", MISSING="libtbb-dev", USER_ID="1000", SUDO_WORKS="no")
        self.assertEqual(status, 1)
        self.assertTrue(any("run as root: apt-get install -y libtbb-dev" in line for line in err), err)
        self.assertFalse(any(line.startswith("apt-get") for line in err), err)

    def test_refused_package_is_named(self):
        status, _, err = self.call("setup", MISSING="libtbb-dev", APT_STATUS="100")
        self.assertEqual(status, 1)
        self.assertIn("sennit: apt-get could not install: libtbb-dev ", err)

    def test_tests_install_only_what_they_need(self):
        # `--list` names the stages and ends; the packages come before it, as for every other run of the tests.
        status, _, err = self.call("test", "--list", MISSING="clang-19 libtbb-dev python3-venv")
        self.assertEqual(status, 0)
        self.assertIn("sennit: installing Debian packages for the tests: clang-19 ", err)

    def test_ci_runs_the_tests_and_nothing_else(self):
        lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
        self.assertEqual(lines, ['exec "$(dirname "$0")/../sennit" test'])


if __name__ == "__main__":
    unittest.main()
