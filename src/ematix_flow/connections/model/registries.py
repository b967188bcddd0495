"""Schema registries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.connection import Connection
from ematix_flow.connections.model.property import prop


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SchemaRegistryConnection(Connection):
    """A schema registry that speaks Confluent's API, or Apicurio's own."""

    kind = "schema_registry"
    requires: ClassVar[tuple[str, ...]] = ("url",)
    groups = ("basic_auth", "tls")

    api: Literal["confluent", "apicurio"] = prop("confluent", "The API it is asked by")
    basic_auth_user: str | None = prop(None, "Who logs in")
    basic_auth_password: str | None = prop(None, "Its password", secret=True)
    bearer_token: str | None = prop(None, "Instead of a user", secret=True)
    group: str | None = prop(None, "The group of artifacts, for Apicurio")
    tls_ca_file: str | None = prop(None, "File of the authority, PEM; by default the system's")
    tls_certificate_file: str | None = prop(None, "File of our certificate, PEM")
    tls_key_file: str | None = prop(None, "File of our key, PEM")
    timeout: int = prop(30, "Seconds to wait for an answer")

    def _read_url(self, url: str) -> None:
        """Keep the URL, which is the registry's address, but take the login out of it."""
        try:
            address = Address.of(url)
        except ValueError as error:
            raise self._wrong(str(error)) from None
        if "://" not in url or address.scheme not in ("http", "https"):
            raise self._wrong("url takes the registry's address: http://... or https://...")
        for key, said in (
            ("basic_auth_user", address.user),
            ("basic_auth_password", address.password),
        ):
            if said is None:
                continue
            if getattr(self, key) not in (None, said):
                raise self._wrong(f"{key} is given twice, in its URL and beside it")
            object.__setattr__(self, key, said)
        head, _, rest = url.partition("://")
        has_login = address.user is not None or address.password is not None
        place = rest.rpartition("@")[2] if has_login else rest
        object.__setattr__(self, "url", f"{head}://{place}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GlueSchemaRegistryConnection(Connection):
    """The AWS Glue schema registry. Credentials come from the standard chain."""

    kind = "glue_schema_registry"

    registry_name: str = prop("default-registry", "The registry")
    region: str | None = prop(None, "The region; by default that of the standard chain")
    endpoint: str | None = prop(None, "A service other than Amazon's: `http://host:port`")
    profile: str | None = prop(None, "A profile of the standard chain")
    role_arn: str | None = prop(None, "A role to take on")
    access_key_id: str | None = prop(None, "Instead of the standard chain", secret=True)
    secret_access_key: str | None = prop(None, "Instead of the standard chain", secret=True)
    session_token: str | None = prop(None, "Instead of the standard chain", secret=True)
