# SPDX-License-Identifier: Apache-2.0
"""Fills the jinja2 templates of the lab: those of templates/, and the page with its parts."""

import json
from pathlib import Path

import jinja2

HERE = Path(__file__).parent


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HERE / "templates", HERE / "page"]),
        undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(("html", "svg")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.policies["json.dumps_kwargs"] = {
        "separators": (",", ":"),
        "ensure_ascii": False,
        "allow_nan": False,
    }
    made.policies["json.dumps_function"] = json.dumps
    return made


ENVIRONMENT = _environment()


def fill(template: str, **values: object) -> str:
    return ENVIRONMENT.get_template(template).render(**values)
