# SPDX-License-Identifier: Apache-2.0
"""`bench pack FILE`: an archive of the programs of lab/sweep/jobs.toml, the shared libraries that
they need, and lab/sweep/sweep.py, which measures them on a machine without tools.
"""

import json
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from argparse import Namespace
from pathlib import Path

from .build import ROOT, Builder, NotInstalled, default_compiler
from .catalogue import RUNTIMES
from .machine import machine
from .parser import REFUSED
from .say import say, warn

PROCESSOR = "x86-64-v3"  # the other machine may have an older processor than this one
FOLDER = "sennit-sweep"  # the only folder of the archive
SWEEP = ROOT / "lab" / "sweep"
FILES = ("run", "sweep.py", "jobs.toml")
SECOND_COMPILER = "g++"  # for runtimes that the first one lacks, such as OpenMP
ABOUT = ("compiler", "flags", "commit", "system", "rustc", "go")  # of the machine's description
# The parts of glibc, which every machine has; they fit only to each other.
SYSTEM_LIBRARY = re.compile(r"(lib(c|m|pthread|dl|rt|resolv)\.so|ld-linux)")
MIB = 1 << 20


def programs() -> list[str]:
    """The programs of jobs.toml: those of a runtime begin with `lab-`."""
    groups = tomllib.loads((SWEEP / "jobs.toml").read_text(encoding="utf-8"))["group"]
    return list(dict.fromkeys(program for group in groups for program in group["programs"]))


def shared_libraries(program: Path) -> list[Path]:
    """The libraries that a program needs besides glibc. A statically linked program needs none, and
    ldd fails for it. Raises NotInstalled for a library that is missing here.
    """
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    found = []
    for line in done.stdout.splitlines() if done.returncode == 0 else []:
        name, arrow, place = line.strip().partition(" => ")
        if not arrow or SYSTEM_LIBRARY.match(name):
            continue
        if place == "not found":
            raise NotInstalled(f"its library {name} is not found")
        found.append(Path(place.rpartition(" (")[0]))
    return found


class Packer:
    """Fills a folder with programs and their libraries."""

    def __init__(self, folder: Path, builders: list[Builder]) -> None:
        self.folder = folder
        self.builders = builders
        self.missing: dict[str, str] = {}
        for name in ("bin", "lib"):
            (folder / name).mkdir(parents=True)

    def add(self, name: str) -> None:
        try:
            program = self._build(name)
            libraries = shared_libraries(program)
        except NotInstalled as reason:
            self.missing[name] = str(reason)
            return
        packed = self.folder / "bin" / name
        shutil.copyfile(program, packed)
        packed.chmod(0o755)
        if shutil.which("strip"):
            subprocess.run(["strip", str(packed)], capture_output=True)
        for library in libraries:
            shutil.copyfile(library, self.folder / "lib" / library.name)

    def _build(self, name: str) -> Path:
        """The program, built by the first builder that can. Raises NotInstalled with the reason of
        the first builder.
        """
        reasons = []
        for builder in self.builders:
            try:
                return Path(_command(builder, name)[-1])
            except NotInstalled as reason:
                reasons.append(reason)
        raise reasons[0]

    def versions(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for builder in reversed(self.builders):
            found |= builder.versions
        return dict(sorted(found.items()))


def _command(builder: Builder, name: str) -> list[str]:
    runtime = name.removeprefix("lab-")
    return builder.sweep_program(name) if runtime == name else builder.command(runtime)


def about(compiler: str, versions: dict[str, str]) -> dict[str, object]:
    """The circumstances of the programs, which the results of a sweep begin with."""
    known = machine(compiler)
    flags = str(known["flags"]).replace("=native", f"={PROCESSOR}")
    return {key: known[key] for key in ABOUT if known[key]} | {"flags": flags, "versions": versions}


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the user of this machine."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def write(folder: Path, file: Path) -> None:
    """The archive appears when it is whole."""
    part = file.with_name(f".{file.name}.part")
    try:
        with tarfile.open(part, "w:gz") as archive:
            archive.add(folder, FOLDER, filter=_plain)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def act(given: Namespace) -> int:
    if platform.machine() != "x86_64":
        warn(f"sennit: pack builds for {PROCESSOR}, which a machine of {platform.machine()} cannot")
        return REFUSED
    file = Path(given.file).absolute()
    compiler = given.compiler or default_compiler()
    names = dict.fromkeys([compiler, *filter(shutil.which, [SECOND_COMPILER])])
    with tempfile.TemporaryDirectory(prefix="sennit-pack-") as place:
        folder = Path(place) / FOLDER
        packer = Packer(folder, [Builder(name, PROCESSOR) for name in names])
        for program in programs():
            packer.add(program)
        for program, reason in packer.missing.items():
            warn(f"sennit: the pack lacks {program}: {reason}")
        ours = [f"lab-{name}" for name, runtime in RUNTIMES.items() if runtime.ours]
        if lost := [program for program in ours if program in packer.missing]:
            warn(f"sennit: nothing is packed: {lost[0]} cannot be built")
            return REFUSED
        for name in FILES:
            shutil.copy(SWEEP / name, folder / name)
        text = json.dumps(about(compiler, packer.versions()), indent=2, ensure_ascii=False)
        (folder / "about.json").write_text(text + "\n", encoding="utf-8")
        write(folder, file)
        count = len(list((folder / "bin").iterdir()))
    size = file.stat().st_size / MIB
    say(f"written: {file}, {count} programs, {size:.1f} MiB")
    say(f"on the other machine: tar -xf {file.name} && {FOLDER}/run --out results")
    return 0
