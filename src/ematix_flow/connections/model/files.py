"""Files: a path of this machine, or a URL of an object store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.connection import Connection
from ematix_flow.connections.model.property import prop
from ematix_flow.errors import NotSupported

# Object stores that Spark's file systems know.
REMOTE_SCHEMES = ("s3", "s3a", "gs", "abfss")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PathConnection(Connection):
    """A connection that is a file or a folder."""

    other_schemes: ClassVar[tuple[str, ...]] = REMOTE_SCHEMES
    requires: ClassVar[tuple[str, ...]] = ("path",)

    path: str = prop("", "File or folder, relative to the project")

    @property
    def is_remote(self) -> bool:
        """Whether the path is on an object store."""
        return self.path.partition("://")[0] in REMOTE_SCHEMES and "://" in self.path

    @property
    def location(self) -> Path:
        """The absolute path; meant for a resolved connection."""
        if self.is_remote:
            raise NotSupported(
                f"connection {self.name!r}: {self.path!r} is on an object store; "
                "reading and writing there comes later",
                where=self.origin or None,
                hint="give a path of this machine",
            )
        try:
            return (self.base / Path(self.path).expanduser()).absolute()
        except RuntimeError:
            raise self._wrong(f"path {self.path!r} is in the home of an unknown user") from None

    @classmethod
    def _from_text(cls, url: str) -> dict[str, str] | None:
        return {"path": url}

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        """Read `sqlite:///shop.db`: three slashes are relative to the project, four absolute."""
        if address.scheme in REMOTE_SCHEMES:
            login = f"{address.user}@" if address.user else ""  # abfss://container@account
            return {"path": f"{address.scheme}://{login}{address.host}/{address.path}"}
        between = "/" if address.host and address.path else ""
        return {"path": f"{address.host}{between}{address.path}"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CsvConnection(PathConnection):
    """CSV files: one file, or a folder whose files are the tables.

    :param schema: `text` (every column as text; the target's types then judge each value),
        `infer` (Spark reads the data once more to guess), or columns: `"id BIGINT, name STRING"`.
    """

    kind = "csv"
    schemes = ("csv",)

    header: bool = prop(True, "The first line names the columns")
    delimiter: str = prop(",", "Between two values")
    quote: str = prop('"', "Around a value")
    escape: str = prop('"', "Before a quote inside a value")
    null_value: str = prop("", "The text that means NULL")
    encoding: str = prop("UTF-8", "Of the text")
    schema: str = prop("text", '`text`, `infer`, or columns: `"id BIGINT, name STRING"`')


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ParquetConnection(PathConnection):
    """Parquet files: one file, or a folder whose files and folders are the tables."""

    kind = "parquet"
    schemes = ("parquet",)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JsonlConnection(PathConnection):
    """Files of JSON lines: one file, or a folder whose files are the tables."""

    kind = "jsonl"
    schemes = ("jsonl",)

    encoding: str = prop("UTF-8", "Of the text")
    schema: str = prop("infer", '`infer`, or columns: `"id BIGINT, name STRING"`')


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OrcConnection(PathConnection):
    """ORC files: one file, or a folder whose files and folders are the tables."""

    kind = "orc"
    schemes = ("orc",)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class S3Connection(Connection):
    """A bucket of an S3 store and the files in it. Credentials come from the standard chain."""

    kind = "s3"
    schemes = ("s3", "s3a")
    requires: ClassVar[tuple[str, ...]] = ("bucket",)

    bucket: str = prop("", "The bucket")
    prefix: str = prop("", "What the keys begin with")
    format: Literal["parquet", "csv", "jsonl", "orc", "delta", "iceberg"] = prop(
        "parquet", "What the files are"
    )
    region: str | None = prop(None, "The region; by default that of the standard chain")
    endpoint: str | None = prop(None, "A store other than AWS: `http://host:port`")
    path_style: bool = prop(False, "Put the bucket into the path, as most other stores want")
    profile: str | None = prop(None, "A profile of the standard chain")
    access_key_id: str | None = prop(None, "Instead of the standard chain", secret=True)
    secret_access_key: str | None = prop(None, "Instead of the standard chain", secret=True)
    session_token: str | None = prop(None, "Instead of the standard chain", secret=True)

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        return {"bucket": address.host, "prefix": address.path}
