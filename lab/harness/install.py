# SPDX-License-Identifier: Apache-2.0
"""Installs the requirements of the verbs: Debian packages, the Python libraries of the lab, and
ECharts.

The Python libraries come from Debian packages where apt-get can install them, because the tests
must not need a Python package registry. Elsewhere they come from requirements.txt, into .venv.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .catalogue import RUNTIMES
from .parser import ROOT
from .say import warn

BUILD_PACKAGES = ["g++", "cmake", "ninja-build", "pkg-config", "python3"]
LIBRARIES = {  # module -> Debian package
    "jinja2": "python3-jinja2",
    "jsonschema": "python3-jsonschema",
    "psutil": "python3-psutil",
    "rich": "python3-rich",
    "scipy": "python3-scipy",
}
TEST_PACKAGES = [
    *("g++", "clang-19", "libclang-rt-19-dev", "clang-format-19", "cmake", "ninja-build", "make"),
    *("ccache", "git", "python3", "pkg-config", "libgtest-dev", "googletest", "gdb", "qemu-user"),
    "librapidcheck-dev",
    *("g++-aarch64-linux-gnu", "libc6-dev-arm64-cross", "libssl-dev", "libhttp-parser-dev", "curl"),
    *("libasio-dev", "libboost-dev"),
    *LIBRARIES.values(),
]
VENV = ROOT / ".venv"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
# Environment variable of a process that restart_with_libraries has started.
RESTARTED = "SENNIT_PYTHON_CHOSEN"


class CannotInstall(Exception):
    """Something that the verb needs is missing; the text says how to get it."""


# --- Debian packages ------------------------------------------------------------------------------


def has_commands(*names: str) -> bool:
    return all(map(shutil.which, names))


def missing_packages(packages: Iterable[str]) -> list[str]:
    def installed(package: str) -> bool:
        command = ["dpkg-query", "-W", "-f=${db:Status-Status}\n", package]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode == 0 and "installed" in done.stdout.split()

    return [package for package in dict.fromkeys(packages) if not installed(package)]


def _is_root() -> bool:
    return subprocess.run(["id", "-u"], capture_output=True, text=True).stdout.strip() == "0"


def _sudo_works() -> bool:
    return (
        has_commands("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0
    )


def install_packages(purpose: str, packages: Sequence[str]) -> None:
    """Installs the missing packages. On a system other than Debian, only names them. Raises
    CannotInstall.
    """
    if not has_commands("dpkg-query", "apt-get"):
        warn(
            f"sennit: this is not a Debian system; {purpose} needs these Debian packages: "
            + " ".join(packages)
        )
        return
    missing = missing_packages(packages)
    if not missing:
        return
    names = " ".join(missing)
    as_root: list[str] = []
    if not _is_root():
        if not _sudo_works():
            raise CannotInstall(
                f"{purpose} needs Debian packages, and this user may not install them; "
                f"run as root: apt-get install -y {names}"
            )
        as_root = ["sudo", "-n"]
    warn(f"sennit: installing Debian packages for {purpose}: {names}")
    apt = [
        *as_root,
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-qq",
        "-o",
        "Dpkg::Use-Pty=0",
    ]
    apt += ["-o", "DPkg::Lock::Timeout=300"]

    def succeeds(*arguments: str) -> bool:
        return (
            subprocess.run(
                [*apt, *arguments], stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
            ).returncode
            == 0
        )

    if not succeeds("update"):
        warn("sennit: apt-get update failed; the package lists stay as they are")
    if not succeeds("install", "-y", "--no-install-recommends", *missing):
        raise CannotInstall(f"apt-get could not install: {names}")


def install_if_possible(purpose: str, packages: Sequence[str]) -> bool:
    """install_packages for a verb that can do part of its work without the packages."""
    try:
        install_packages(purpose, packages)
    except CannotInstall as reason:
        warn(f"sennit: {reason}")
        warn(f"sennit: {purpose}: continuing without the missing packages")
        return False
    return True


def ensure_build_tools() -> None:
    """Raises CannotInstall."""
    if not has_commands("g++", "cmake"):
        install_packages("building", BUILD_PACKAGES)


# --- the peers ------------------------------------------------------------------------------------


def peer_packages(light: bool) -> list[str]:
    """The packages that runtimes declare, without those of tool chains that are installed
    already.
    """
    found = [
        package
        for runtime in RUNTIMES.values()
        if runtime.light == light and not (runtime.commands and has_commands(*runtime.commands))
        for package in runtime.packages
    ]
    return sorted(set(found))


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


def _rust_packages() -> list[str]:
    """Debian has a newer Rust beside its own, for browsers."""
    if has_commands("cargo", "rustc"):
        return []
    newer = ["cargo-web", "rustc-web"]
    shown = [
        line
        for line in _output(["apt-cache", "show", *newer]).splitlines()
        if line.startswith("Package: ")
    ]
    return newer if len(set(shown)) == len(newer) else ["cargo", "rustc"]


def _jdk_packages() -> list[str]:
    """The newest JDK, unless one from 21 on is installed, which lab/runtimes/java needs."""
    for javac in ["javac", *map(str, Path("/usr/lib/jvm").glob("*/bin/javac"))]:
        found = re.match(r"javac (\d+)", _output([javac, "-version"]))
        if found and int(found.group(1)) >= 21:
            return []
    listed = _output(["apt-cache", "search", "--names-only", "^openjdk-[0-9]+-jdk-headless$"])
    versions = [
        int(found) for found in re.findall(r"^openjdk-(\d+)-jdk-headless", listed, re.MULTILINE)
    ]
    if max(versions, default=0) >= 21:
        return [f"openjdk-{max(versions)}-jdk-headless"]
    warn("sennit: the package lists have no JDK 21 or newer; the rows of Java will say so")
    return []


def setup(all_peers: bool) -> bool:
    """Installs the build tools and the peers; says whether everything could be installed."""
    light = [*BUILD_PACKAGES, *LIBRARIES.values(), *peer_packages(light=True)]
    done = install_if_possible("Sennit and the light peers", light)
    if not done:
        ensure_build_tools()
    if all_peers:
        packages = [*peer_packages(light=False), *_rust_packages(), *_jdk_packages()]
        done = install_if_possible("the other peers", packages) and done
    return done


# --- the Python libraries -------------------------------------------------------------------------

CHECK = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))"


def _has_libraries(python: str) -> bool:
    try:
        return (
            subprocess.run([python, "-c", CHECK, *LIBRARIES], capture_output=True).returncode == 0
        )
    except OSError:
        return False


def python_with_libraries() -> str | None:
    """An interpreter that has the libraries: this one, that of .venv, or Debian's."""
    if all(map(importlib.util.find_spec, LIBRARIES)):
        return sys.executable
    candidates = [str(VENV / "bin" / "python"), "/usr/bin/python3"]
    return next((python for python in candidates if _has_libraries(python)), None)


def _make_venv() -> None:
    """Raises CannotInstall."""
    advice = (
        f"the lab needs the Python libraries {', '.join(LIBRARIES)}: "
        f"install the Debian packages {' '.join(LIBRARIES.values())}"
    )
    warn(f"sennit: installing the Python libraries of the lab into .venv: {' '.join(LIBRARIES)}")
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True)
        if made.returncode != 0:
            raise CannotInstall(f"{advice}, or python3-venv")
        pip = [
            str(VENV / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--retries",
            "1",
        ]
        cache = os.environ | {"PIP_CACHE_DIR": str(ROOT / "build" / "cache" / "pip")}
        got = subprocess.run(
            [*pip, "--disable-pip-version-check", "-r", str(REQUIREMENTS)],
            env=cache,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if got.returncode != 0:
            reason = (got.stderr.strip().splitlines() or ["pip failed"])[-1][:160]
            raise CannotInstall(f"{advice} ({reason})")
    except BaseException:
        shutil.rmtree(VENV, ignore_errors=True)
        raise


def ensure_libraries() -> str:
    """Returns an interpreter with the libraries, after installing them if need be. Raises
    CannotInstall.
    """
    found = python_with_libraries()
    if not found:
        install_if_possible("the lab", list(LIBRARIES.values()))
        found = python_with_libraries()
    if not found:
        _make_venv()
        found = python_with_libraries()
    if not found:
        raise CannotInstall(
            f"Python still finds no {', '.join(LIBRARIES)} after their installation"
        )
    return found


def restart_with_libraries(arguments: Sequence[str]) -> None:
    """Does nothing if this interpreter has the libraries, else restarts the command with another
    interpreter.
    """
    python = ensure_libraries()
    if python == sys.executable:
        return
    if os.environ.get(RESTARTED):
        raise CannotInstall(f"{python} does not find its libraries")
    os.execve(python, [python, "-P", "-m", "harness", *arguments], os.environ | {RESTARTED: "1"})


def install_charts() -> None:
    """Tries to get ECharts. A page without charts will do."""
    from . import charts

    if reason := charts.install():
        warn(f"sennit: RESULTS.html will have no charts: {reason}")
