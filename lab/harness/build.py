# SPDX-License-Identifier: Apache-2.0
"""Builds runtimes below build/lab. The output of the tools goes to log files there; each step
prints one line to standard error."""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

from .catalogue import RUNTIMES, UsageError
from .declared import Runtime
from .limits import run_to_end
from .say import warn
from .tool_chains import environment

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "lab"
# Seconds for one step of a build. A step that waits for a network must not block the bench.
TIME_LIMIT = 1800.0
# Environment variable that names a CMake build folder, whose programs are used without a rebuild.
PREBUILT = "SENNIT_LAB_BUILD"
# For which processor the programs are built, unless they must run on another machine. The build
# scripts of other languages read the variable PROCESSOR of their environment.
THIS_PROCESSOR = "native"
PROCESSOR = "SENNIT_LAB_PROCESSOR"


class NotInstalled(Exception):
    """The runtime cannot be had on this machine; the text says why."""


def default_compiler() -> str:
    return os.environ.get("CXX") or "g++"


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One build at a time in this checkout, also across processes."""
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            warn("waiting for another build in this folder")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compiler_flags() -> str:
    """Those that the user wants for every C++ program, besides the lab's own."""
    return os.environ.get("CXXFLAGS", "")


def _below(processor: str) -> Path:
    return OUT if processor == THIS_PROCESSOR else OUT / processor


def folder_of(compiler: str, processor: str = THIS_PROCESSOR) -> Path:
    """Where the C++ runtimes of a compiler are built. Those that have a name in common, but are
    not the one on the PATH, differ.
    """
    name, there = Path(compiler).name, shutil.which(compiler)
    usual = shutil.which(name)
    if not there or usual and os.path.realpath(there) == os.path.realpath(usual):
        return _below(processor) / name
    digest = hashlib.sha256(os.path.abspath(there).encode()).hexdigest()[:8]
    return _below(processor) / f"{name}-{digest}"


def _end(command: list[str], out: IO, err: IO, log: Path, env: dict[str, str] | None = None) -> int:
    """The status with which the command ended. Raises NotInstalled when it did not."""
    try:
        status = run_to_end(command, TIME_LIMIT, out, err, env)
    except FileNotFoundError:
        raise NotInstalled(f"{command[0]} is not installed") from None
    if status is None:
        raise NotInstalled(f"was not built within {TIME_LIMIT:g} s, see {log}")
    return status


def _succeeds(command: list[str], log: Path) -> bool:
    with open(log, "wb") as out:
        return _end(command, out, out, log) == 0


class Cxx:
    """All C++ runtimes of one compiler: one CMake build folder."""

    def __init__(self, compiler: str, processor: str = THIS_PROCESSOR) -> None:
        if not shutil.which(compiler):
            raise UsageError(f"the compiler '{compiler}' is not installed")
        self.compiler = compiler
        self.processor = processor
        self.prebuilt = bool(os.environ.get(PREBUILT))
        self.folder = (
            Path(os.environ[PREBUILT]).absolute()
            if self.prebuilt
            else folder_of(compiler, processor)
        )
        self.reasons: dict[str, str | None] | None = None
        self.versions: dict[str, str] = {}
        self.failure: str | None = None  # why there is no build folder
        self.broken: dict[str, str | None] = {}  # runtimes with which CMake fails, with the reason

    def why_not(self, name: str) -> str | None:
        """Why the runtime cannot be built, or None."""
        if self.failure:
            raise NotInstalled(self.failure)
        if self.reasons is None:
            try:
                if not self.prebuilt:
                    self._configure()
            except NotInstalled as reason:
                self.failure = str(reason)  # not again for each runtime
                raise
            self.reasons = self._available() | self.broken
        return self.reasons.get(name, "no port yet")

    def _configure(self) -> None:
        """With all runtimes; where CMake fails, with all but those with which it does."""
        self.folder.mkdir(parents=True, exist_ok=True)
        warn(f"configuring the C++ runtimes ({self.compiler})")
        if self._configures([]):
            return
        names = [
            name
            for name, runtime in RUNTIMES.items()
            if runtime.language == "C++" and not runtime.program
        ]
        needed = [name for name in names if name == "serial" or RUNTIMES[name].ours]
        if not self._configures(needed):
            raise NotInstalled(f"CMake failed, see {self._log}")
        warn("CMake failed; looking for the peer with which it does")
        self._configures(self._sound(needed, [name for name in names if name not in needed]))

    def _sound(self, sound: list[str], doubtful: list[str]) -> list[str]:
        """The runtimes of both lists with which CMake does not fail, those of the first known
        for it; halves the second one.
        """
        if not doubtful or self._configures(sound + doubtful):
            return sound + doubtful
        if len(doubtful) == 1:
            log = self.folder / f"{doubtful[0]}.log"
            shutil.copyfile(self._log, log)
            self.broken[doubtful[0]] = f"CMake fails with it, see {log}"
            return sound
        half = len(doubtful) // 2
        return self._sound(self._sound(sound, doubtful[:half]), doubtful[half:])

    @property
    def _log(self) -> Path:
        return self.folder / "configure.log"

    def _configures(self, programs: list[str]) -> bool:
        """Whether CMake succeeds with these programs; with none named: with all. Nothing of the
        lab's own settings stays from before.
        """
        command = [
            "cmake",
            "-S",
            str(ROOT),
            "-B",
            str(self.folder),
            f"-DCMAKE_CXX_COMPILER={self.compiler}",
            f"-DCMAKE_CXX_FLAGS={compiler_flags()}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DSENNIT_BUILD_LAB=ON",
            "-DSENNIT_BUILD_TESTS=OFF",
            "-U",
            "SENNIT_LAB_*",
            f"-DSENNIT_LAB_PROGRAMS={';'.join(programs)}",
            f"-DSENNIT_LAB_PROCESSOR={self.processor}",
        ]
        if shutil.which("ninja") and not (self.folder / "CMakeCache.txt").exists():
            command += ["-G", "Ninja"]
        return _succeeds(command, self._log)

    def _available(self) -> dict[str, str | None]:
        """name -> why it cannot be built, or None"""
        reasons: dict[str, str | None] = {}
        try:
            lines = (self.folder / "lab" / "available.txt").read_text().splitlines()
        except OSError as error:
            raise NotInstalled(f"{error.filename}: {error.strerror}") from None
        for line in lines:
            name, there, reason, version = line.split("\t")
            reasons[name] = None if there == "yes" else reason
            self.versions[name] = version
        return reasons

    def build(self, name: str) -> list[str]:
        reason = self.why_not(name)
        if reason:
            raise NotInstalled(reason)
        return [self._target(name, f"lab-{name}", self.folder / "lab" / f"lab-{name}")]

    def build_sweep(self, name: str) -> str:
        """The program of lab/sweep/programs/NAME.cpp."""
        self.why_not("sennit")  # configures
        try:
            names = (self.folder / "lab" / "sweep.txt").read_text().split()
        except OSError as error:
            raise NotInstalled(f"{error.filename}: {error.strerror}") from None
        if name not in names:
            raise NotInstalled("a library that it needs is not found")
        return self._target(name, f"sweep-{name}", self.folder / "lab" / "sweep" / name)

    def build_client(self, name: str) -> str:
        """The program of lab/clients/NAME."""
        self.why_not("sennit")  # configures
        target = f"lab-client-{name}"
        return self._target(f"client-{name}", target, self.folder / "lab" / target)

    def _target(self, name: str, target: str, program: Path) -> str:
        if self.prebuilt:
            if not program.is_file():
                raise NotInstalled(f"{program} is not built")
            return str(program)
        log = self.folder / f"{name}.log"
        warn(f"building {name} ({self.compiler})")
        command = ["cmake", "--build", str(self.folder), "--target", target, "--parallel"]
        if not _succeeds(command, log):
            raise NotInstalled(f"does not build, see {log}")
        return str(program)


def build_script(name: str, processor: str = THIS_PROCESSOR) -> tuple[list[str], str]:
    """A runtime of another language: lab/runtimes/NAME/build.sh OUT ends with `ok COMMAND` or `no
    REASON`; a line before that may be `version TEXT`. Returns the command and the version."""
    script = ROOT / "lab" / "runtimes" / name / "build.sh"
    if not script.exists():
        raise NotInstalled("no port yet")
    warn(f"building {name}")
    folder = _below(processor)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    with open(log, "wb") as err, open(os.memfd_create("out"), "w+b") as out:
        try:
            status = _end(
                ["bash", str(script), str(folder)],
                out,
                err,
                log,
                environment(ROOT / "build" / "cache") | {PROCESSOR: processor},
            )
        finally:
            out.seek(0)
            said = out.read()
            err.write(said)
    lines = said.decode(errors="replace").strip().splitlines() or [""]
    verdict, _, rest = lines[-1].partition(" ")
    if verdict == "ok" and status == 0:
        return [rest], next(
            (line.partition(" ")[2] for line in lines if line.startswith("version ")), ""
        )
    raise NotInstalled(rest if verdict == "no" else f"does not build, see {log}")


def _under(runtime: Runtime, command: list[str]) -> list[str]:
    """The command under the circumstances of the runtime."""
    given = list(runtime.environment)
    if runtime.preload:
        try:
            ctypes.CDLL(runtime.preload)
        except OSError:
            raise NotInstalled(
                f"{runtime.preload} is not installed (package {' '.join(runtime.packages)})"
            ) from None
        given.append(f"LD_PRELOAD={runtime.preload}")
    return ["env", *given, *command] if given else command


class Finder(Protocol):
    def command(self, name: str) -> list[str]:
        """How to call the program of a runtime. Raises NotInstalled."""

    def client(self, name: str) -> list[str]:
        """The words before that command, where a program of lab/clients starts and measures the
        runtime's program. Raises NotInstalled.
        """


def under_client(finder: Finder, client: str, command: list[str]) -> list[str]:
    """The command of a runtime's program, behind that of its client; no client: the command."""
    return (finder.client(client) if client else []) + command


class Builder:
    """Finds or makes the command that runs a runtime. Each method raises NotInstalled."""

    def __init__(self, compiler: str | None = None, processor: str = THIS_PROCESSOR) -> None:
        self.cxx = Cxx(compiler or default_compiler(), processor)
        # Versions of the libraries and languages that command() or check() found.
        self.versions: dict[str, str] = {}

    def command(self, name: str) -> list[str]:
        runtime = RUNTIMES[name]
        with _alone():
            if runtime.language == "C++":
                found = self.cxx.build(runtime.program or name)
                self._note(name, self.cxx.versions.get(runtime.program or name))
            else:
                found, version = build_script(runtime.program or name, self.cxx.processor)
                self._note(name, version)
        return _under(runtime, found)

    def client(self, name: str) -> list[str]:
        """How to call a program of lab/clients."""
        with _alone():
            return [self.cxx.build_client(name)]

    def sweep_program(self, name: str) -> list[str]:
        """How to call a program of lab/sweep/programs."""
        with _alone():
            return [self.cxx.build_sweep(name)]

    def _note(self, name: str, version: str | None) -> None:
        if version:
            self.versions[name] = version

    def check(self, name: str) -> None:
        """Whether the runtime can be had. Only building tells that of the languages that fetch
        packages.
        """
        if RUNTIMES[name].language != "C++":
            self.command(name)
            return
        with _alone():
            reason = self.cxx.why_not(RUNTIMES[name].program or name)
        if reason:
            raise NotInstalled(reason)
        self._note(name, self.cxx.versions.get(RUNTIMES[name].program or name))
        _under(RUNTIMES[name], [])
