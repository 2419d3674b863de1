# SPDX-License-Identifier: Apache-2.0
"""The verbs of ./sennit that build and test Sennit itself: test, explore, soak, overload, setup,
clean.
"""

import os
import shutil
import stat
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence

from . import install
from .parser import REFUSED, ROOT

PRESET = "release-gcc"


def _execute(command: Sequence[str]) -> int:
    """Becomes the command, so that its signals and its exit status are those of ./sennit."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(ROOT)
    os.execv(command[0], list(command))


def _compiler_cache() -> None:
    """Clones that share a cache find each other's results: ccache sees paths below the root as
    relative ones.
    """
    os.environ.setdefault("CCACHE_DIR", str(ROOT / "build" / "cache" / "ccache"))
    os.environ.setdefault("CCACHE_BASEDIR", str(ROOT))
    os.environ.setdefault("CCACHE_NOHASHDIR", "1")
    # Without these words, ccache caches no file that uses precompiled headers.
    os.environ.setdefault("CCACHE_SLOPPINESS", "pch_defines,time_macros")


def test(_: Namespace, rest: Sequence[str]) -> int:
    install.install_if_possible("the tests", install.TEST_PACKAGES)
    _compiler_cache()
    python = install.python_with_libraries() or sys.executable
    return _execute([python, str(ROOT / "tests" / "run"), *rest])


def explore(_: Namespace, rest: Sequence[str]) -> int:
    install.install_if_possible("the explorer", install.TEST_PACKAGES)
    _compiler_cache()
    return _execute([sys.executable, str(ROOT / "tests" / "sim" / "run"), *rest])


def _built(target: str) -> str:
    """Builds a program of the tests; returns its path. Raises CannotInstall."""
    _compiler_cache()
    launcher = "ccache" if shutil.which("ccache") else ""
    configure = ["cmake", "--preset", PRESET, f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
    build = ["cmake", "--build", "--preset", PRESET, "--target", target]
    for command in (configure, build):
        done = subprocess.run(
            command, cwd=ROOT, stdout=sys.stderr.fileno(), stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            raise install.CannotInstall(f"cannot build {target}: {' '.join(command)} failed")
    return str(ROOT / "build" / PRESET / "tests" / target)


def soak(given: Namespace, _: Sequence[str]) -> int:
    install.install_if_possible("the soak", install.TEST_PACKAGES)
    workers = ["--workers", str(given.workers)] if given.workers else []
    return _execute([_built("soak"), *workers, f"{60 * given.minutes:g}"])


def overload(given: Namespace, _: Sequence[str]) -> int:
    install.install_if_possible("the overload test", install.TEST_PACKAGES)
    return _execute([_built("overload"), "--seconds", f"{given.seconds:g}"])


def setup(given: Namespace, _: Sequence[str]) -> int:
    done = install.setup(given.peers == "all")
    install.ensure_libraries()
    return 0 if done else REFUSED


def clean(_: Namespace, __: Sequence[str]) -> int:
    for folder, _names, _files in os.walk(ROOT / "build" / "cache"):
        os.chmod(
            folder, os.stat(folder).st_mode | stat.S_IWUSR
        )  # Go makes its module folders read-only
    for name in ("build", ".venv"):
        if (ROOT / name).exists():
            shutil.rmtree(ROOT / name)
    return 0


VERBS = {
    "test": test,
    "explore": explore,
    "soak": soak,
    "overload": overload,
    "setup": setup,
    "clean": clean,
}
