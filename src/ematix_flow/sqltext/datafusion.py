"""DataFusion's SQL for sqlglot, which does not know it: PostgreSQL's grammar, Arrow's functions."""

from __future__ import annotations

from sqlglot import exp, tokens
from sqlglot.dialects.postgres import Postgres
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.postgres import PostgresParser


def _position(arguments: list[exp.Expr]) -> exp.StrPosition:
    text, wanted = arguments
    return exp.StrPosition(this=text, substr=wanted)


def _named_struct(arguments: list[exp.Expr]) -> exp.Struct:
    fields = zip(arguments[::2], arguments[1::2], strict=True)
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name.name), expression=value)
            for name, value in fields
        ]
    )


class DataFusion(Postgres):
    """Registered with sqlglot under the name `datafusion` by being defined."""

    class Tokenizer(Postgres.Tokenizer):
        """`"` quotes names; a backslash in a text is plain."""

        KEYWORDS = {  # noqa: RUF012
            **Postgres.Tokenizer.KEYWORDS,
            "QUALIFY": tokens.TokenType.QUALIFY,  # type: ignore[attr-defined]
        }

    class Parser(PostgresParser):
        """Functions whose names PostgreSQL lacks, or gives another meaning."""

        FUNCTIONS = {  # noqa: RUF012
            **PostgresParser.FUNCTIONS,
            "MAKE_ARRAY": lambda args: exp.Array(expressions=args),
            "ARRAY_HAS": exp.ArrayContains.from_arg_list,
            "LIST_HAS": exp.ArrayContains.from_arg_list,
            "ARRAY_LENGTH": exp.ArraySize.from_arg_list,
            "REGEXP_LIKE": exp.RegexpLike.from_arg_list,
            "INSTR": _position,
            "STRPOS": _position,
            "NAMED_STRUCT": _named_struct,
            # Its formats are strftime's, not PostgreSQL's.
            "TO_CHAR": exp.TimeToStr.from_arg_list,
            "DATE_FORMAT": exp.TimeToStr.from_arg_list,
            "NVL": lambda args: exp.Coalesce(this=args[0], expressions=args[1:]),
        }

    class Generator(PostgresGenerator):
        """Spell back what the parser reads, for messages."""

        TRANSFORMS = {  # noqa: RUF012
            **PostgresGenerator.TRANSFORMS,
            exp.Array: lambda self, node: self.func("make_array", *node.expressions),
            exp.ArrayContains: lambda self, node: self.func(
                "array_has", node.this, node.expression
            ),
            exp.StrPosition: lambda self, node: self.func(
                "strpos", node.this, node.args.get("substr")
            ),
        }
