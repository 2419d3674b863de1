# SPDX-License-Identifier: Apache-2.0
"""Tests of `bench pack`: the archive has all programs that can be built and the libraries that they
need, and the programs that cannot be built have a reason.
"""

import json
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_case import ROOT, call
from harness import pack
from harness.build import NotInstalled
from harness.catalogue import RUNTIMES, UsageError
from harness.options import check
from harness.parser import parse

PROGRAM = shutil.which("true")
LDD = """\
\tlinux-vdso.so.1 (0x00007ffd)
\tlibtbb.so.12 => {folder}/libtbb.so.12 (0x00007f01)
\tlibstdc++.so.6 => {folder}/libstdc++.so.6 (0x00007f02)
\tlibm.so.6 => /lib/libm.so.6 (0x00007f03)
\tlibc.so.6 => /lib/libc.so.6 (0x00007f04)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f05)
"""
ABOUT = {
    "compiler": "g++ 12",
    "flags": "-O3 -march=native",
    "commit": "1234567",
    "system": None,
    "rustc": None,
    "go": None,
    "cpu": "of this machine",
}


class FakeBuilder:
    """Replaces harness.build.Builder. Each compiler has its programs."""

    programs = {"g++": {}}
    processors = []

    def __init__(self, compiler, processor):
        self.known = self.programs[compiler]
        self.versions = {name: "1.0" for name in self.known if name in RUNTIMES}
        self.processors.append(processor)

    def command(self, name):
        if name not in self.known:
            raise NotInstalled(f"no library of {name}")
        return ["env", "A=B", self.known[name]]

    def sweep_program(self, name):
        return self.command(name)[-1:]


class Libraries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def libraries(self, script):
        ldd = self.folder / "ldd"
        ldd.write_text(f"#!/bin/sh\n{script}\n")
        ldd.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        with mock.patch.dict(os.environ, PATH=path):
            return pack.shared_libraries(Path(PROGRAM))

    def test_libraries_besides_glibc_are_found(self):
        text = LDD.format(folder=self.folder)
        self.assertEqual(
            self.libraries(f"cat << 'END'\n{text}END"),
            [self.folder / "libtbb.so.12", self.folder / "libstdc++.so.6"],
        )

    def test_statically_linked_program_needs_none(self):
        self.assertEqual(self.libraries("echo '\tnot a dynamic executable' >&2; exit 1"), [])
        self.assertEqual(self.libraries("echo '\tstatically linked'"), [])

    def test_library_that_is_missing_here_is_named(self):
        with self.assertRaisesRegex(NotInstalled, "its library libtbb.so.12 is not found"):
            self.libraries("echo '\tlibtbb.so.12 => not found'")


@unittest.skipUnless(platform.machine() == "x86_64", "pack builds for x86-64-v3")
class Archives(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "sweep.tar.gz"
        self.all = {name.removeprefix("lab-"): PROGRAM for name in pack.programs()}

    def pack(self, programs=None, **more):
        compilers = {"g++": self.all if programs is None else programs} | more
        first = next(iter(more), "g++")
        which = shutil.which

        def installed(name):
            return f"/bin/{name}" if name in compilers else which(name)

        with (
            mock.patch.object(FakeBuilder, "programs", compilers),
            mock.patch("harness.pack.Builder", FakeBuilder),
            mock.patch("harness.pack.machine", lambda compiler: ABOUT),
            mock.patch("shutil.which", installed),
        ):
            return call("bench", "pack", str(self.file), "--compiler", first)

    def unpacked(self):
        with tarfile.open(self.file) as archive:
            self.assertTrue(all(member.uname == "" for member in archive.getmembers()))
            archive.extractall(self.folder)
        return self.folder / "sennit-sweep"

    def test_archive_has_all_programs_and_runs(self):
        status, out, err = self.pack()
        self.assertEqual((status, err), (0, []))
        self.assertIn(f"written: {self.file}, {len(self.all)} programs", out[0])
        folder = self.unpacked()
        self.assertEqual(
            {path.name for path in folder.iterdir()},
            {"run", "sweep.py", "jobs.toml", "about.json", "bin", "lib"},
        )
        self.assertEqual({path.name for path in (folder / "bin").iterdir()}, set(pack.programs()))
        listed = subprocess.run(
            [folder / "run", "--list", "--processors", "2"], text=True, capture_output=True, cwd="/"
        )
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("forks: lab-sennit fib 39 2\n", listed.stdout)

    def test_programs_are_built_for_another_machine_which_archive_says(self):
        self.pack()
        self.assertEqual(set(FakeBuilder.processors), {"x86-64-v3"})
        about = json.loads((self.unpacked() / "about.json").read_text())
        self.assertEqual(about["flags"], "-O3 -march=x86-64-v3")
        self.assertEqual((about["commit"], about["versions"]["onetbb"]), ("1234567", "1.0"))
        self.assertNotIn("cpu", about)

    def test_peer_that_cannot_be_built_is_named_with_reason(self):
        del self.all["caf"]
        status, _, err = self.pack()
        self.assertEqual((status, err), (0, ["sennit: the pack lacks lab-caf: no library of caf"]))
        self.assertFalse((self.unpacked() / "bin" / "lab-caf").exists())

    def test_second_compiler_builds_program_that_first_one_lacks(self):
        first = self.all | {}
        del first["openmp"]
        status, _, err = self.pack({"openmp": PROGRAM}, **{"clang++": first})
        self.assertEqual((status, err), (0, []))
        self.assertTrue((self.unpacked() / "bin" / "lab-openmp").exists())

    def test_without_program_of_sennit_there_is_no_archive(self):
        del self.all["sennit-fiber"]
        status, out, err = self.pack()
        self.assertEqual((status, out), (1, []))
        self.assertEqual(err[-1], "sennit: nothing is packed: lab-sennit-fiber cannot be built")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_archive_appears_only_when_it_is_whole(self):
        self.file.write_text("former")
        with mock.patch("tarfile.TarFile.add", side_effect=OSError(28, "No space left on device")):
            status, _, err = self.pack()
        self.assertEqual((status, len(err)), (1, 1), err)
        self.assertEqual(self.file.read_text(), "former")
        self.assertEqual([path.name for path in self.folder.iterdir()], [self.file.name])


class Options(unittest.TestCase):
    def test_mistakes_get_one_line(self):
        for file, message in {
            "sweep.zip": "pack writes an archive FILE.tar.gz, not 'sweep.zip'",
            "/nonexistent/sweep.tar.gz": "there is no folder '/nonexistent'",
        }.items():
            with self.subTest(file), self.assertRaisesRegex(UsageError, message):
                check(parse(["bench", "pack", file]))

    def test_names_of_programs_are_unique_and_hold_those_of_sennit(self):
        names = pack.programs()
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({"lab-sennit", "lab-sennit-fiber", "lab-go", "phases"}, set(names))
        sources = {path.stem for path in (ROOT / "lab/sweep/programs").glob("*.cpp")}
        self.assertLessEqual({one for one in names if not one.startswith("lab-")}, sources)


if __name__ == "__main__":
    unittest.main()
