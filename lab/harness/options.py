# SPDX-License-Identifier: Apache-2.0
"""How the verbs read their options: each thing that is wrong is one clear line."""

import argparse
import re
import shutil
from typing import NoReturn

from .catalogue import RUNTIMES, UsageError, runtime_named

REFUSED = 1  # exit code: what was asked for could not be done


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, verb: str) -> None:
        super().__init__(prog=f"sennit {verb}", allow_abbrev=False, add_help=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog.split()[1]}: {message}; see ./sennit --help")


def _amount(text: str, option: str, unit: str, most: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= most:
        raise UsageError(f"{option} must be a number of {unit}, at most {most}, not '{text}'")
    return value


def seconds(text: str) -> float:
    """Of --time-limit."""
    return _amount(text, "--time-limit", "seconds", 86400)


def minutes(text: str) -> float:
    """Of --budget, in seconds."""
    return 60 * _amount(text, "--budget", "minutes", 10080)


def number(text: str, name: str, low: int, high: int) -> int:
    if not re.fullmatch("[0-9]{1,10}", text) or not low <= int(text) <= high:
        raise UsageError(f"{name} must be a number from {low} to {high}, not '{text}'")
    return int(text)


def compiler_named(name: str | None) -> str | None:
    """None stands for the standard one, which is installed when it is missing."""
    if name is not None and name != "g++" and not shutil.which(name):
        raise UsageError(f"the compiler '{name}' is not installed")
    return name


def runtimes_named(text: str | None, workloads: list[str]) -> list[str]:
    """Those that are named, else all that have one of the workloads."""
    if text is None:
        return [runtime.name for runtime in RUNTIMES.values() if set(workloads) & set(runtime.offers)]
    names = list(dict.fromkeys(runtime_named(name).name for name in text.split(",")))
    if not any(set(workloads) & set(RUNTIMES[name].offers) for name in names):
        raise UsageError(f"none of the runtimes {', '.join(names)} has one of the workloads {', '.join(workloads)}")
    return names
