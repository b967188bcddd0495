"""Names of tables and columns: how each dialect folds their case."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import DialectError

# These tell "a" from "A" and read a bare A as a; the others find a name in any case.
_FOLDING = ("postgres", "datafusion")


def folded(node: exp.Identifier) -> exp.Expr:
    """Fold a bare name to lower case, as PostgreSQL and DataFusion do."""
    if not node.quoted and isinstance(node.this, str):
        node.set("this", node.this.lower())
    return node


def check_names(query: exp.Query, *, read: str, write: str, where: Location | str) -> None:
    """Refuse two names that differ only in case where one side cannot tell them apart."""
    if read not in _FOLDING or write in _FOLDING:
        return
    seen: dict[str, str] = {}
    for node in query.find_all(exp.Identifier):
        name = node.name if node.quoted else node.name.lower()
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise DialectError.about(
                f'"{name}", "{other}"',
                "names that differ only in case are one name there",
                "give one of them another name",
                write=write,
                where=where,
            )
