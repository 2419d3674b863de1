# SPDX-License-Identifier: Apache-2.0
"""Tests of the build of the port to .NET, with a stand-in for `dotnet`: the SDK that it chooses,
the commands that it calls, and its message where there is no SDK.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from lab_case import ROOT

PORT = ROOT / "lab" / "runtimes" / "dotnet"
SDKS = ("3.1.102", "10.0.100", "8.0.404")
FRAMEWORKS = ("10.0.1", "3.1.2", "8.0.11")
# Prints its SDKs and frameworks, records its arguments, and compiles into an empty file.
DOTNET = """#!/bin/bash
case $1 in
    --list-sdks) for one in $SDKS; do echo "$one [$HOME_OF_ALL/sdk]"; done ;;
    --list-runtimes)
        for one in $FRAMEWORKS; do
            echo "Microsoft.AspNetCore.App $one [$HOME_OF_ALL/shared/Microsoft.AspNetCore.App]"
            echo "Microsoft.NETCore.App $one [$HOME_OF_ALL/shared/Microsoft.NETCore.App]"
        done ;;
    exec)
        printf '%s\\n' "$0" "$@" >"$HOME_OF_ALL/called"
        env >"$HOME_OF_ALL/environment"
        for one; do [[ $one != -out:* ]] || : >"${one#-out:}"; done
        exit "${STATUS:-0}" ;;
    *) exit 1 ;;
esac
"""


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a lab ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out" / "dotnet"
        self.dotnet = self.stand_in("bin")
        for version in FRAMEWORKS:
            place = self.folder / "shared" / "Microsoft.NETCore.App" / version
            place.mkdir(parents=True)
            (place / "System.Runtime.dll").touch()

    def stand_in(self, name):
        path = self.folder / name / "dotnet"
        path.parent.mkdir()
        path.write_text(DOTNET)
        path.chmod(0o755)
        return path

    def environment(self, **variables):
        given = {name: value for name, value in os.environ.items() if name != "DOTNET_ROOT"}
        return (
            given
            | {
                "PATH": f"{self.dotnet.parent}:{os.environ['PATH']}",
                "HOME_OF_ALL": str(self.folder),
                "SDKS": " ".join(SDKS),
                "FRAMEWORKS": " ".join(FRAMEWORKS),
            }
            | variables
        )

    def build(self, **variables):
        done = subprocess.run(
            ["bash", PORT / "build.sh", self.folder / "out"],
            cwd="/",
            text=True,
            capture_output=True,
            env=self.environment(**variables),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def called(self):
        return (self.folder / "called").read_text().splitlines()

    def test_newest_sdk_on_path_compiles_all_sources_without_packages(self):
        self.assertEqual(
            self.build(), ["version .NET 10.0.1 (SDK 10.0.100)", f"ok {self.out}/lab-dotnet"]
        )
        program, verb, compiler, *options = self.called()
        self.assertEqual(
            (program, verb, compiler),
            (str(self.dotnet), "exec", f"{self.folder}/sdk/10.0.100/Roslyn/bincore/csc.dll"),
        )
        self.assertLessEqual({f"./{path.name}" for path in PORT.glob("*.cs")}, set(options))
        self.assertIn(
            f"-r:{self.folder}/shared/Microsoft.NETCore.App/10.0.1/System.Runtime.dll", options
        )
        self.assertIn("-define:NET6_0_OR_GREATER", options)
        settings = json.loads((self.out / "lab-dotnet.runtimeconfig.json").read_text())
        self.assertEqual(
            settings["runtimeOptions"]["framework"],
            {"name": "Microsoft.NETCore.App", "version": "10.0.1"},
        )

    def test_program_runs_in_dotnet_with_heap_for_each_thread(self):
        self.build()
        for threads, server, heaps in (("1", "0", "1"), ("24", "1", "18")):
            with self.subTest(threads):
                subprocess.run(
                    [self.out / "lab-dotnet", "fib", "20", threads],
                    check=True,
                    env=self.environment(),
                )
                self.assertEqual(
                    self.called(),
                    [str(self.dotnet), "exec", f"{self.out}/lab-dotnet.dll", "fib", "20", threads],
                )
                environment = (self.folder / "environment").read_text().splitlines()
                self.assertLessEqual(
                    {
                        f"DOTNET_gcServer={server}",
                        f"DOTNET_GCHeapCount={heaps}",
                        f"COMPlus_GCHeapCount={heaps}",
                    },
                    set(environment),
                )
        done = subprocess.run(
            [self.out / "lab-dotnet", "fib", "20", "some"],
            text=True,
            capture_output=True,
            env=self.environment(),
        )
        self.assertEqual((done.returncode, done.stderr), (1, "usage: WORKLOAD SIZE THREADS\n"))

    def test_dotnet_root_precedes_path(self):
        root = self.stand_in("root")
        self.build(DOTNET_ROOT=str(root.parent))
        self.assertEqual(self.called()[0], str(root))
        self.build(DOTNET_ROOT="/nonexistent")
        self.assertEqual(self.called()[0], str(self.dotnet))

    def test_version_before_6_compiles_without_newer_features(self):
        self.assertEqual(
            self.build(SDKS="3.1.102", FRAMEWORKS="3.1.2")[0], "version .NET 3.1.2 (SDK 3.1.102)"
        )
        self.assertNotIn("-define:NET6_0_OR_GREATER", self.called())

    def test_missing_part_is_named_in_one_line(self):
        for reason, variables in (
            ("has no SDK, only a runtime", {"SDKS": ""}),
            ("has no Microsoft.NETCore.App", {"FRAMEWORKS": ""}),
            ("needs .NET Core 3.1 or newer, found 2.1.30", {"FRAMEWORKS": "2.1.30"}),
            ("dotnet cannot build it, see the log", {"STATUS": "1"}),
        ):
            with self.subTest(reason):
                self.assertRegex(self.build(**variables)[-1], f"^no .*{reason}$")


if __name__ == "__main__":
    unittest.main()
