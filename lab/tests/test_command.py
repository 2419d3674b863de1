# SPDX-License-Identifier: Apache-2.0
"""Tests of ./sennit itself: its messages, the packages that it installs, and the way in which it
installs them. Stand-ins replace the tools that change the system.
"""

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import lab_case
from lab_case import ROOT, SENNIT
from harness import cli, install, parser
from harness.parser import BENCH_ACTIONS, VERBS

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
    "frobnicate": "there is no verb 'frobnicate'; see ./sennit help",
    "--frobnicate": "unrecognized arguments: --frobnicate",
    "help frobnicate": "there is no verb 'frobnicate'",
    "clean everything": "clean: unrecognized arguments: everything; see ./sennit help clean",
    "setup --peers": "setup: argument --peers: expected one argument",
    "setup --peers some": (
        "setup: argument --peers: invalid choice: 'some' (choose from 'light', 'all')"
    ),
    "setup tbb": "setup: unrecognized arguments: tbb",
    "test --fast": "test: unrecognized arguments: --fast; see ./sennit help test",
    "test --stages": "test: argument --stages: expected one argument",
    "test --jobs 0": "argument --jobs/-j: must be a whole number from 1 on, not '0'",
    "explore --deep": "explore: unrecognized arguments: --deep",
    "soak long": "soak: argument MINUTES: must be a number, not 'long'",
    "soak --workers 0": "soak: argument --workers: must be a whole number from 1 on, not '0'",
    "overload -1": "overload: argument SECONDS: must be a number, not '-1'",
    "run unknown fib": "no runtime is called 'unknown'",
    "run serial fib many": "size must be a number",
    "list all": "list: unrecognized arguments: all",
    "bench --workloads nothing": "no workload is called 'nothing'",
    "bench compare a": (
        "bench compare: the following arguments are required: B; see ./sennit help bench compare"
    ),
}


def call_help(*words):
    """The output of the command in this process. The command must end with status 0."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        mock.patch.dict(os.environ, COLUMNS="100"),
    ):
        try:
            cli.main(list(words))
        except SystemExit as end:
            assert not end.code, end.code
    return out.getvalue()


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
        done = subprocess.run(
            [str(program), *([str(script)] if script else []), *arguments],
            cwd=cwd,
            env=environment,
            text=True,
            capture_output=True,
            input="an unexpected answer",
        )
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def test_bad_input_gives_one_clear_line_and_installs_nothing(self):
        for text, message in BAD_INPUT.items():
            with self.subTest(text):
                status, out, err = self.call(*text.split(), MISSING="g++ cmake libtbb-dev clang-19")
                self.assertEqual((status, out, len(err)), (2, [], 1), err)
                self.assertTrue(err[0].startswith("sennit: "), err)
                self.assertIn(message, err[0])

    def test_help_explains_every_verb(self):
        for arguments in (["--help"], ["help"], [], ["-h"]):
            with self.subTest(arguments):
                status, out, err = self.call(*arguments, MISSING="g++ libtbb-dev clang-19")
                self.assertEqual((status, err), (0, []))
                explained = {line.split()[0] for line in out if line.startswith("    ")}
                self.assertLessEqual(set(VERBS), explained)

    def test_each_verb_has_its_own_help(self):
        for words in [[verb] for verb in VERBS] + [["bench", action] for action in BENCH_ACTIONS]:
            with self.subTest(words):
                helped = call_help("help", *words)
                self.assertEqual(helped, call_help(*words, "--help"))
                self.assertTrue(helped.startswith(f"usage: ./sennit {' '.join(words)}"), helped)
        self.assertIn("--budget MIN", call_help("help", "bench"))
        self.assertIn("--allow-missing", call_help("help", "test"))

    def test_help_fits_100_columns_and_explains_every_option(self):
        for words in [[verb] for verb in VERBS] + [["bench", action] for action in BENCH_ACTIONS]:
            with self.subTest(words):
                for line in call_help("help", *words).splitlines():
                    self.assertLessEqual(len(line), 100)
        for verb in VERBS:
            parser.parser_for.cache_clear()
            made = parser.parser_for(verb)._subparsers._group_actions[0].choices[verb]
            for action in made._actions:
                self.assertTrue(action.help, f"{verb} {action.option_strings or action.dest}")

    def test_version_option_prints_version_of_project(self):
        status, out, err = self.call("--version")
        self.assertEqual((status, err), (0, []))
        self.assertRegex(out[0], r"^sennit \d+\.\d+\.\d+$")
        self.assertIn(f"VERSION {out[0].split()[1]}", (ROOT / "CMakeLists.txt").read_text())

    def test_command_runs_through_link_from_another_folder(self):
        link = self.folder / "link"
        link.symlink_to(SENNIT)
        self.assertEqual(self.call("help", program=link, cwd=self.folder), self.call("help"))

    def test_setup_installs_nothing_on_complete_machine(self):
        for arguments in (["setup"], ["setup", "--peers", "all"]):
            self.assertEqual(self.call(*arguments), (0, [], []))

    def test_root_announces_and_installs_missing_packages(self):
        status, out, err = self.call("setup", MISSING="libtbb-dev ninja-build")
        self.assertEqual((status, out, len(err)), (0, [], 3), err)
        self.assertEqual(
            err[0],
            "sennit: installing Debian packages for Sennit and the light peers: "
            "ninja-build libtbb-dev",
        )
        self.assertRegex(err[1], r"^apt-get .*update \[noninteractive\] \[\]$")
        self.assertRegex(
            err[2], r"^apt-get .*install -y .*ninja-build libtbb-dev \[noninteractive\] \[\]$"
        )

    def test_setup_of_all_peers_installs_declared_packages(self):
        status, _, err = self.call(
            "setup", "--peers", "all", MISSING="libcaf-dev libboost-coroutine-dev libtbb-dev"
        )
        self.assertEqual(status, 0, err)
        self.assertEqual(
            [line for line in err if line.startswith("sennit: installing")],
            [
                "sennit: installing Debian packages for Sennit and the light peers: libtbb-dev",
                "sennit: installing Debian packages for the other peers: "
                "libboost-coroutine-dev libcaf-dev",
            ],
        )

    def test_full_run_installs_all_peers_and_other_runs_light_peers(self):
        for options, all_peers in (
            (["--full"], True),
            ([], False),
            (["--full", "--workloads", "fib"], False),
            (["--quick"], False),
        ):
            with (
                self.subTest(options),
                lab_case.without_installers(),
                mock.patch("harness.bench_verbs.act", lambda _: 0),
            ):
                self.assertEqual(cli.main(["bench", *options]), 0)
                install.setup.assert_called_once_with(all_peers)

    def test_failed_install_of_charts_is_warning(self):
        with (
            mock.patch("harness.charts.install", lambda: "no network"),
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            install.install_charts()
        self.assertEqual(err.getvalue(), "sennit: RESULTS.html will have no charts: no network\n")

    def test_command_installs_missing_python(self):
        own = self.folder / "own"
        own.mkdir()
        (own / "sennit").write_bytes(Path(SENNIT).read_bytes())
        bash = shutil.which("bash")
        for name in ("bash", "env", "dirname", "readlink", "cat"):
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / name).symlink_to(shutil.which(name))
        (self.folder / "apt-get").write_text(
            '#!/bin/bash\necho "apt-get $*" >&2; [[ $* != *install* ]] || '
            f"printf '#!/bin/bash\\n[[ $1 == -c ]] || echo ran $*\\n' >{self.folder}/python3; "
            f"[[ $* != *install* ]] || {shutil.which('chmod')} +x {self.folder}/python3\n"
        )
        text = (
            (own / "sennit").read_text().replace("/usr/bin/python3", "/nowhere/python3")
        )  # behaves as if Python was missing
        (own / "sennit").write_text(text)
        done = subprocess.run(
            [bash, str(own / "sennit"), "list"],
            env={"PATH": str(self.folder)},
            text=True,
            capture_output=True,
        )
        self.assertEqual(
            (done.returncode, done.stdout), (0, "ran -P -m harness list\n"), done.stderr
        )
        self.assertIn("install -y --no-install-recommends python3", done.stderr)

    def test_libraries_come_from_debian_packages_or_else_from_requirements(self):
        found = iter([None, "/usr/bin/python3"])
        with (
            mock.patch("harness.install.python_with_libraries", lambda: next(found)),
            mock.patch("harness.install.install_packages") as packages,
            mock.patch("harness.install._make_venv") as venv,
        ):
            self.assertEqual(install.ensure_libraries(), "/usr/bin/python3")
            packages.assert_called_once_with("the lab", list(install.LIBRARIES.values()))
            venv.assert_not_called()
        found = iter([None, None, ".venv/bin/python"])
        with (
            mock.patch("harness.install.python_with_libraries", lambda: next(found)),
            mock.patch("harness.install.install_packages"),
            mock.patch("harness.install._make_venv") as venv,
        ):
            self.assertEqual(install.ensure_libraries(), ".venv/bin/python")
            venv.assert_called_once()

    def test_requirements_pin_version_of_every_library(self):
        pinned = [
            line.partition("==")
            for line in install.REQUIREMENTS.read_text().splitlines()
            if not line.startswith("#")
        ]
        self.assertTrue(all(version for _, _, version in pinned))
        self.assertLessEqual(set(install.LIBRARIES), {name.lower() for name, _, _ in pinned})

    def test_other_users_install_through_sudo(self):
        status, _, err = self.call("setup", MISSING="libtbb-dev", USER_ID="1000")
        self.assertEqual(status, 0)
        self.assertEqual(
            [line.split()[:2] for line in err if line.startswith("sudo")], [["sudo", "-n"]] * 2, err
        )
        self.assertTrue(
            any(line.startswith("apt-get") and "install -y" in line for line in err), err
        )

    def test_user_without_rights_is_told_command_to_run(self):
        status, _, err = self.call("setup", MISSING="libtbb-dev", USER_ID="1000", SUDO_WORKS="no")
        self.assertEqual(status, 1)
        self.assertTrue(
            any("run as root: apt-get install -y libtbb-dev" in line for line in err), err
        )
        self.assertFalse(any(line.startswith("apt-get") for line in err), err)

    def test_refused_package_is_named(self):
        status, _, err = self.call("setup", MISSING="libtbb-dev", APT_STATUS="100")
        self.assertEqual(status, 1)
        self.assertIn("sennit: apt-get could not install: libtbb-dev", err)

    def test_tests_install_only_packages_that_they_need(self):
        # `--list` names the stages and ends. The command installs the packages first, as in every
        # other run of the tests.
        status, _, err = self.call("test", "--list", MISSING="clang-19 libtbb-dev python3-venv")
        self.assertEqual(status, 0)
        self.assertIn("sennit: installing Debian packages for the tests: clang-19", err)

    def test_ci_runs_tests_and_nothing_else(self):
        lines = [
            line
            for line in (ROOT / ".ci" / "run").read_text().splitlines()
            if line and not line.startswith("#")
        ]
        self.assertEqual(lines, ['exec "$(dirname "$0")/../sennit" test'])


if __name__ == "__main__":
    unittest.main()
