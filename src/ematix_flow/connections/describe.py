"""The kinds of connections as a page of the documentation."""

from __future__ import annotations

from ematix_flow.connections.kinds import Kind, kinds
from ematix_flow.connections.model.property import Property, properties_of
from ematix_flow.connections.model.settings import Settings

_TITLES = {
    "files": "Files",
    "databases": "Databases in a file",
    "servers": "Database servers",
    "lakes": "Lakes",
    "brokers": "Message brokers",
    "registries": "Schema registries",
    "warehouses": "Warehouses",
    "memory": "Memory",
}


def kinds_markdown() -> str:
    """Return a section per family, a table of properties per kind."""
    by_family: dict[str, list[Kind]] = {family: [] for family in _TITLES}
    for each in kinds():
        by_family.setdefault(each.family, []).append(each)
    parts: list[str] = []
    for family, members in by_family.items():
        parts.append(f"### {_TITLES.get(family, family.capitalize())}")
        parts += [_kind(each) for each in members]
    return "\n\n".join(parts) + "\n"


def _kind(each: Kind) -> str:
    doc = (each.model.__doc__ or "").partition("\n")[0]
    taken = (*each.model.schemes, *each.model.other_schemes)
    schemes = ", ".join(f"`{scheme}://`" for scheme in taken)
    also = ", ".join(f"`{alias}` for `{name}`" for alias, name in each.model.aliases.items())
    told = [
        doc,
        f"URLs begin with {schemes}." if schemes else "",
        f"It also takes {also}." if also else "",
        "Its reader and writer come later." if each.planned else "",
    ]
    rows = [_row(each, known) for known in properties_of(each.model).values()]
    return "\n".join(
        [
            f"#### `{each.name}`",
            "",
            " ".join(part for part in told if part),
            "",
            "| property | takes | default | |",
            "| --- | --- | --- | --- |",
            *rows,
        ]
    )


def _row(kind: Kind, known: Property) -> str:
    required = known.name in kind.model.requires
    notes = [known.description, "**Secret.**" if known.secret else ""]
    takes = _takes(known).replace("|", "\\|")
    told = " ".join(part for part in notes if part)
    return f"| `{known.name}` | {takes} | {_default(known, required=required)} | {told} |"


def _takes(known: Property) -> str:
    if known.choices:
        return ", ".join(f"`{choice}`" for choice in known.choices)
    names = {str: "text", int: "number", bool: "`true`, `false`", Settings: "table"}
    return "text, function" if known.function else names[known.type]


def _default(known: Property, *, required: bool) -> str:
    if required and known.default in ("", None):
        return "required"
    match known.default:
        case None | "":
            return ""
        case bool():
            return f"`{str(known.default).lower()}`"
        case Settings():
            return ""
        case _:
            return f"`{known.default}`"
