# SPDX-License-Identifier: Apache-2.0
"""Fills the jinja2 templates of the lab: those of templates/, and the page with its parts."""

import json
import textwrap
from pathlib import Path

import jinja2

HERE = Path(__file__).parent
COLUMNS = 100  # of the lines of a Markdown page, tables aside


def wrapped(text: str, indent: int = 0) -> str:
    """The text in lines of at most COLUMNS columns, the second and later ones indented. A list item
    has its mark, of as many columns, in front of the first line.
    """
    return textwrap.fill(
        text,
        COLUMNS,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    ).lstrip()


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HERE / "templates", HERE / "page"]),
        undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(("html", "svg")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["wrapped"] = wrapped
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
