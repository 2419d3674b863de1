# SPDX-License-Identifier: Apache-2.0
"""The environment in which cargo and go build: they write below build/ only, and keep the user's
settings.
"""

import os
import shutil
from pathlib import Path


def _copy_cargo_settings(user: Path, ours: Path) -> None:
    """A registry mirror may be set there. (cargo reads `config` only where there is no
    `config.toml`.)
    """
    ours.mkdir(parents=True, exist_ok=True)
    for name in ("config.toml", "config"):
        if (user / name).is_file():
            shutil.copyfile(user / name, ours / name)
        else:
            (ours / name).unlink(missing_ok=True)


def environment(cache: Path) -> dict[str, str]:
    env = dict(os.environ)
    home = Path(env.get("HOME") or "/")
    settings = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    _copy_cargo_settings(Path(env.get("CARGO_HOME") or home / ".cargo"), cache / "cargo")
    env["CARGO_HOME"] = str(cache / "cargo")
    env["GOPATH"] = str(cache / "go")
    env["GOCACHE"] = str(cache / "go-build")
    env["GOMODCACHE"] = str(cache / "go" / "pkg" / "mod")
    # go counts its uses below the settings folder; the settings of `go env -w` there still hold.
    env["GOENV"] = env.get("GOENV") or str(settings / "go" / "env")
    env["XDG_CONFIG_HOME"] = str(cache / "config")
    return env
