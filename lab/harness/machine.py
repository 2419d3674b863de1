# SPDX-License-Identifier: Apache-2.0
"""The circumstances of results: the machine, the tool chains, the commit."""

import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import psutil

from .build import PREBUILT, ROOT, compiler_flags
from .catalogue import usable_cpus

TOOL_CHAINS = {"rustc": ["rustc", "--version"], "go": ["go", "version"]}


def _first_line(command: list[str]) -> str | None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=ROOT, timeout=30
        )
        return done.stdout.splitlines()[0] if done.returncode == 0 else None
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return None


def _version(line: str) -> list[int]:
    """Of `openjdk 25.0.1 …`."""
    return [int(part) for part in re.findall(r"\d+", line.split(" ")[1])]


def _java() -> str | None:
    """The newest JDK that is installed; runtimes/java/build.sh takes the same."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    commands = [
        str(home / "bin" / "java") for home in [*homes, *Path("/usr/lib/jvm").glob("*")]
    ] + ["java"]
    lines = [line for command in commands if (line := _first_line([command, "--version"]))]
    return max(lines, key=_version) if lines else None


def _field(path: str, key: str) -> str | None:
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return None


def _system() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _flags() -> str | None:
    """The flags of every C++ program of the lab. The lab passes these flags to its own build
    folders. For a prebuilt folder they are read from its CMake cache."""
    if os.environ.get(PREBUILT):
        return _flags_of(Path(os.environ[PREBUILT], "CMakeCache.txt"))
    text = (ROOT / "lab" / "CMakeLists.txt").read_text()
    found = re.findall(r"set\((\w+)\s+([^()]*?)\s+CACHE", text)
    values = {name: " ".join(value.split()) for name, value in found}
    flags = values.get("SENNIT_LAB_FLAGS")
    whole = (
        re.sub(r"\$\{(\w+)\}", lambda name: values.get(name[1], name[0]), flags) if flags else None
    )
    return f"{compiler_flags()} {whole}".strip() if whole else None


def _flags_of(cache: Path) -> str | None:
    """The compiler flags of a build folder. Of two equal flags the last is kept, since the last of
    several counts."""
    try:
        values = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.MULTILINE))
    except OSError:
        return None
    kind = values.get("CMAKE_BUILD_TYPE", "").upper()
    keys = ("CMAKE_CXX_FLAGS", f"CMAKE_CXX_FLAGS_{kind}", "SENNIT_LAB_FLAGS")
    words = " ".join(values.get(key, "").replace(";", " ") for key in keys).split()
    return " ".join(reversed(dict.fromkeys(reversed(words)))) or None


def differences(then: dict, now: dict) -> str | None:
    """The first circumstance that differs, in words; None if no difference is known."""
    for key in ("commit", "compiler", "flags", "allocator", "cpu", "cores", "kernel"):
        if then.get(key) and now.get(key) and then[key] != now[key]:
            return f"{key} {then[key]}, and this is {now[key]}"
    return None


def _allocator() -> str:
    return os.environ.get("LD_PRELOAD") or " ".join(platform.libc_ver())


def machine(compiler: str) -> dict:
    """The description of the machine, as a dictionary. A fact that cannot be found out is None."""
    about = {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": usable_cpus(),
        "memory": f"{psutil.virtual_memory().total // 1024} kB",
        "kernel": platform.release(),
        "system": _system(),
        "compiler": _first_line([compiler, "--version"]),
        "compiler_command": compiler,
        "flags": _flags(),
        "allocator": _allocator(),
        "commit": _first_line(["git", "describe", "--always", "--dirty"]),
        "load_before": os.getloadavg()[0],
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    return (
        about
        | {name: _first_line(command) for name, command in TOOL_CHAINS.items()}
        | {"java": _java()}
    )
