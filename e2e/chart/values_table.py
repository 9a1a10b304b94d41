"""The table of values in docs/helm.md, made from values.yaml and its comments.

    table()             the rows
    inside(page)        those that a page has, between its two marks
    replaced(page)      the page with the right ones
"""

import json
import re

import yaml

import helm

BEGIN = "<!-- values: written by e2e/chart/chart_test.py --update -->\n"
END = "<!-- end of values -->\n"


def _leaves():
    """(path, default, text) of each value; the text is the comment above it.

    A group of values has no comment; one with a comment is documented as a whole.
    """
    lines = helm.read("charts", "taas", "values.yaml").split("\n")
    values = yaml.load("\n".join(lines), helm.StrictLoader)
    path, comment, leaves = [], [], []
    whole = None  # The indentation of the value that deeper lines belong to.
    for line in lines:
        key = re.match(r"^( *)([A-Za-z]+):(.*)$", line)
        note = re.match(r"^ *# ?(.*)$", line)
        if note:
            comment.append(note.group(1))
            continue
        if not key:
            comment = []  # What stands apart is about the file.
            continue
        depth = len(key.group(1))
        if whole is not None and depth > whole:
            continue
        whole = None
        path = [*path[: depth // 2], key.group(2)]
        if not comment and not key.group(3):
            continue
        if not comment:
            raise RuntimeError(f"values.yaml: {'.'.join(path)} has no comment")
        value = values
        for part in path:
            value = value[part]
        leaves.append((".".join(path), value, " ".join(comment)))
        comment, whole = [], depth
    return leaves


def _walk(schema, definitions, path):
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    if "properties" not in schema:
        return {path}
    return set().union(*(
        _walk(child, definitions, f"{path}.{name}" if path else name)
        for name, child in schema["properties"].items()
    ))


def _schema():
    return json.loads(helm.read("charts", "taas", "values.schema.json"))


def value_paths():
    return {path for path, _, _ in _leaves()}


def schema_paths():
    """Of the schema's values; parts of what values.yaml documents as a whole count as that."""
    schema = _schema()
    found = _walk(schema, schema["definitions"], "") - {"global"}
    whole = value_paths()
    return {next((path for path in whole if name.startswith(path + ".")), name) for name in found}


def table():
    rows = ["| value | default | |", "|---|---|---|"]
    for path, value, text in _leaves():
        rows.append(f"| `{path}` | `{json.dumps(value)}` | {text} |")
    return "\n".join(rows) + "\n"


def inside(page):
    return page[page.index(BEGIN) + len(BEGIN): page.index(END)]


def replaced(page):
    return page[: page.index(BEGIN) + len(BEGIN)] + table() + page[page.index(END):]
