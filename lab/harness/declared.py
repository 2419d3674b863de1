# SPDX-License-Identifier: Apache-2.0
"""Declarations of runtimes and workloads: runtimes/NAME/runtime.toml, and the .toml files below
workloads/. docs/lab/adding.md describes the keys. Each function raises UsageError for a mistake in
a declaration.

The checks use the standard library alone, because they run before anything is installed.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .limits import MEMORY_LIMIT_KIB

LAB = Path(__file__).resolve().parents[1]
POWERS = {2: "two", 10: "ten"}


class UsageError(Exception):
    """Bad input: one clear line for the user, exit code 2."""


@dataclass(frozen=True)
class Runtime:
    name: str
    language: str  # "C++", "Rust", "Go", "Java", "Erlang", "Haskell", "JavaScript", "C∀", "C"
    title: str
    offers: tuple[str, ...] = ()  # workloads
    ours: bool = False  # no peer
    threads: str = ""  # how it is told their number
    program: str = ""  # of which runtime, where it is another one's under other circumstances:
    environment: tuple[str, ...] = ()  # "NAME=VALUE"
    preload: str = ""  # a shared library, by its name
    packages: tuple[str, ...] = ()  # Debian's, that it needs,
    commands: tuple[str, ...] = ()  # unless all of these are there
    light: bool = False  # installed for every `./sennit bench`


@dataclass(frozen=True)
class Workload:
    name: str
    default: str
    quick: str
    small: str = ""  # of the tests
    low: int = 0
    high: int = 0
    names: tuple[str, ...] = ()  # sizes that are no numbers
    full: tuple[str, ...] = ()  # sizes of `bench --full`, where they are not the default
    powers_of: int | None = None  # only these numbers are sizes
    memory_limit_kib: int = MEMORY_LIMIT_KIB
    serial: bool = False  # by construction: a second worker has nothing to do
    client: str = ""  # the program of lab/clients that starts the runtime's program and measures it
    figures: tuple[str, ...] = ()  # further members of the line, numbers, which the results keep

    def check(self, size: str) -> str:
        if self.names:
            if size not in self.names:
                raise UsageError(
                    f"{self.name}: size must be one of {', '.join(self.names)}, not '{size}'"
                )
            return size
        if not re.fullmatch(r"[0-9]{1,9}", size) or not self.low <= int(size) <= self.high:
            raise UsageError(
                f"{self.name}: size must be a number from {self.low} to {self.high}, not '{size}'"
            )
        if self.powers_of and not _is_power(int(size), self.powers_of):
            raise UsageError(
                f"{self.name}: size must be a power of {POWERS[self.powers_of]}, not '{size}'"
            )
        return str(int(size))


def _is_power(number: int, base: int) -> bool:
    while number > 1 and number % base == 0:
        number //= base
    return number == 1


# key -> type; those of the second dictionary may be left out
Keys = tuple[dict[str, type], dict[str, type]]
RUNTIME: Keys = (
    {"title": str, "language": str, "workloads": list},
    {
        "ours": bool,
        "threads": str,
        "program": str,
        "environment": dict,
        "preload": str,
        "packages": list,
        "commands": list,
        "light": bool,
    },
)
WORKLOAD: Keys = (
    {"default": str, "quick": str, "small": str},
    {
        "range": list,
        "names": list,
        "full": list,
        "powers_of": int,
        "memory_limit_gib": int,
        "serial": bool,
        "client": str,
        "figures": list,
    },
)


def _read(path: Path) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None


def _check(where: str, found: object, keys: Keys) -> dict:
    needed, optional = keys
    if not isinstance(found, dict):
        raise UsageError(f"{where} is no table")
    for key in needed:
        if key not in found:
            raise UsageError(f"{where} has no '{key}'")
    for key, value in found.items():
        kind = (needed | optional).get(key)
        if kind is None:
            raise UsageError(
                f"{where} has the unknown key '{key}'; there are: {', '.join(needed | optional)}"
            )
        if not isinstance(value, kind) or kind is int and isinstance(value, bool):
            raise UsageError(f"{where}: '{key}' must be a {kind.__name__}, not {value!r}")
        inside = (
            list(value.values())
            if isinstance(value, dict)
            else value
            if isinstance(value, list)
            else []
        )
        if key == "range" and [type(one) for one in inside] != [int, int]:
            raise UsageError(f"{where}: 'range' must be two numbers, not {value!r}")
        if key != "range" and not all(isinstance(one, str) for one in inside):
            raise UsageError(f"{where}: '{key}' must hold texts only, not {value!r}")
    return found


def families(lab: Path = LAB) -> dict[str, dict[str, Workload]]:
    """family -> name -> workload: a file each, the main job first."""
    files = sorted(
        (lab / "workloads").rglob("*.toml"), key=lambda path: (path.stem != "forks", path.stem)
    )
    found = {
        path.stem: {
            name: _workload(name, f"{path}: {name}", told, lab)
            for name, told in _read(path).items()
        }
        for path in files
    }
    names = [name for family in found.values() for name in family]
    for name in names:
        if names.count(name) > 1 or name in found:
            raise UsageError(f"the name '{name}' is given to two workloads, or to one and a family")
    return found


def _workload(name: str, where: str, told: object, lab: Path) -> Workload:
    about = _check(where, told, WORKLOAD)
    if about.get("client") and not (lab / "clients" / about["client"]).is_dir():
        raise UsageError(f"{where}: lab/clients has no folder '{about['client']}'")
    if ("names" in about) == ("range" in about):
        raise UsageError(f"{where} needs either 'range' or 'names'")
    if about.get("powers_of", 2) not in POWERS:
        raise UsageError(
            f"{where}: 'powers_of' must be one of {', '.join(map(str, POWERS))}, "
            f"not {about['powers_of']}"
        )
    low, high = about.get("range", [0, 0])
    made = Workload(
        name,
        about["default"],
        about["quick"],
        about["small"],
        low,
        high,
        tuple(about.get("names", ())),
        tuple(about.get("full", ())),
        about.get("powers_of"),
        about.get("memory_limit_gib", MEMORY_LIMIT_KIB >> 20) << 20,
        about.get("serial", False),
        about.get("client", ""),
        tuple(about.get("figures", ())),
    )
    for size in (made.default, made.quick, made.small, *made.full):
        made.check(size)
    return made


def runtimes(known: dict[str, dict[str, Workload]], lab: Path = LAB) -> dict[str, Runtime]:
    """name -> runtime: the plain function first, then Sennit's, then the peers. `known` are the
    families of workloads.
    """
    found = [_runtime(path, known) for path in sorted((lab / "runtimes").glob("*/runtime.toml"))]
    found.sort(key=lambda one: (one.name != "serial", not one.ours, one.name))
    all_of = {one.name: one for one in found}
    for one in found:
        if one.program and (one.program not in all_of or all_of[one.program].program):
            raise UsageError(f"{one.name}: its program is that of '{one.program}', which has none")
    return all_of


def _runtime(path: Path, known: dict[str, dict[str, Workload]]) -> Runtime:
    about = _check(str(path), _read(path), RUNTIME)
    if ("program" in about) == ("threads" in about):
        raise UsageError(f"{path} needs either 'threads' or 'program'")
    offers = [name for item in about["workloads"] for name in known.get(item, (item,))]
    for name in offers:
        if not any(name in family for family in known.values()):
            raise UsageError(f"{path}: no workload is called '{name}'")
    return Runtime(
        path.parent.name,
        about["language"],
        about["title"],
        tuple(dict.fromkeys(offers)),
        about.get("ours", False),
        about.get("threads", ""),
        about.get("program", ""),
        tuple(f"{name}={value}" for name, value in about.get("environment", {}).items()),
        about.get("preload", ""),
        tuple(about.get("packages", ())),
        tuple(about.get("commands", ())),
        about.get("light", False),
    )
