# SPDX-License-Identifier: Apache-2.0
"""Builds runtimes below build/lab. Everything that tools print goes to standard error or to a log file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .catalogue import RUNTIMES, UsageError

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "lab"


class NotInstalled(Exception):
    """The runtime cannot be had on this machine; the text says why."""


def default_compiler():
    return os.environ.get("CXX") or "g++"


def say(text):
    print(text, file=sys.stderr, flush=True)


def _environment():
    """Caches of other tool chains stay below build/; a mirror that the user has set up is kept."""
    env = dict(os.environ)
    cache = ROOT / "build" / "cache"
    if "CARGO_HOME" not in env:
        home = cache / "cargo"
        home.mkdir(parents=True, exist_ok=True)
        for name in ("config.toml", "config"):
            user = Path.home() / ".cargo" / name
            if user.exists() and not (home / name).exists():
                shutil.copy(user, home / name)
        env["CARGO_HOME"] = str(home)
    env.setdefault("GOPATH", str(cache / "go"))
    env.setdefault("GOCACHE", str(cache / "go-build"))
    return env


def _run(command, log, **options):
    with open(log, "ab") as out:
        return subprocess.run(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, **options).returncode


class Cxx:
    """All C++ runtimes of one compiler: one CMake build folder."""

    def __init__(self, compiler):
        if not shutil.which(compiler):
            raise UsageError(f"the compiler '{compiler}' is not installed")
        self.compiler = compiler
        self.folder = OUT / Path(compiler).name
        self.reasons = None

    def configure(self):
        if self.reasons is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "configure.log"
        say(f"configuring the C++ runtimes ({self.compiler})")
        command = ["cmake", "-S", str(ROOT), "-B", str(self.folder), f"-DCMAKE_CXX_COMPILER={self.compiler}",
                   "-DCMAKE_BUILD_TYPE=Release", "-DSENNIT_BUILD_LAB=ON", "-DSENNIT_BUILD_TESTS=OFF"]
        if shutil.which("ninja") and not (self.folder / "CMakeCache.txt").exists():
            command += ["-G", "Ninja"]
        if _run(command, log) != 0:
            raise NotInstalled(f"CMake failed, see {log}")
        self.reasons = {}
        for line in (self.folder / "lab" / "available.txt").read_text().splitlines():
            name, there, reason = line.split("\t")
            self.reasons[name] = None if there == "yes" else reason

    def why_not(self, name):
        self.configure()
        return self.reasons.get(name, "unknown to lab/CMakeLists.txt")

    def build(self, name):
        reason = self.why_not(name)
        if reason:
            raise NotInstalled(reason)
        log = self.folder / f"{name}.log"
        say(f"building {name} ({self.compiler})")
        if _run(["cmake", "--build", str(self.folder), "--target", f"lab-{name}"], log) != 0:
            raise NotInstalled(f"does not build, see {log}")
        return [str(self.folder / "lab" / f"lab-{name}")]


class Script:
    """A runtime of another language: lab/runtimes/NAME/build.sh OUT ends with `ok COMMAND` or `no REASON`."""

    def __init__(self):
        self.known = {}

    def build(self, name):
        if name not in self.known:
            self.known[name] = self._build(name)
        command, reason = self.known[name]
        if reason:
            raise NotInstalled(reason)
        return command

    def _build(self, name):
        script = ROOT / "lab" / "runtimes" / name / "build.sh"
        if not script.exists():
            return None, "no port yet"
        OUT.mkdir(parents=True, exist_ok=True)
        say(f"building {name}")
        done = subprocess.run(["bash", str(script), str(OUT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, env=_environment())
        (OUT / f"{name}.log").write_text(done.stdout + done.stderr)
        last = (done.stdout.strip().splitlines() or [""])[-1]
        if last.startswith("ok "):
            return last[3:].split(" "), None
        if last.startswith("no "):
            return None, last[3:]
        return None, f"does not build, see {OUT / (name + '.log')}"


class Builder:
    """Finds or makes the command that runs a runtime."""

    def __init__(self, compiler=None):
        self.cxx = Cxx(compiler or default_compiler())
        self.script = Script()

    def command(self, name):
        if RUNTIMES[name].language == "C++":
            return self.cxx.build(name)
        return self.script.build(name)
