# SPDX-License-Identifier: Apache-2.0
"""Checks data against a JSON Schema, as much of it as results.schema.json uses; the standard library has none."""

import math
from collections.abc import Iterator

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "minimum", "exclusiveMinimum", "required", "properties",
         "additionalProperties", "items", "minItems", "maxItems"}


def _is(value: object, name: str) -> bool:
    if name in ("number", "integer"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return (name == "number" or isinstance(value, int)) and _is_finite(value)
    return isinstance(value, TYPES[name])


def _is_finite(value: float) -> bool:
    """Whether it is a number to compute with: 1e999 is none, nor is a whole number of a thousand digits."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def problems(value: object, schema: dict, root: dict | None = None, where: str = "the file") -> Iterator[str]:
    """Yields a line for each thing that is wrong. Raises ValueError for a keyword that this module does not know."""
    root = root or schema
    if unknown := set(schema) - KNOWN:
        raise ValueError(f"the schema uses {sorted(unknown)}")
    if "$ref" in schema:
        yield from problems(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
        return
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(value, name) for name in types):
        yield f"{where} is no {' or '.join(types)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, not one of {schema['enum']}"
    if "minimum" in schema and _is(value, "number") and value < schema["minimum"]:
        yield f"{where} is less than {schema['minimum']}"
    if "exclusiveMinimum" in schema and _is(value, "number") and value <= schema["exclusiveMinimum"]:
        yield f"{where} is not more than {schema['exclusiveMinimum']}"
    if isinstance(value, dict):
        yield from _of_object(value, schema, root, where)
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has {len(value)} items"
        for number, item in enumerate(value if "items" in schema else ()):
            yield from problems(item, schema["items"], root, f"{where}[{number}]")


def _of_object(value: dict, schema: dict, root: dict, where: str) -> Iterator[str]:
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{where} has no '{key}'"
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, item in value.items():
        if key in known:
            yield from problems(item, known[key], root, f"{where}.{key}")
        elif others is False:
            yield f"{where} has an unknown '{key}'"
        elif isinstance(others, dict):
            yield from problems(item, others, root, f"{where}.{key}")
