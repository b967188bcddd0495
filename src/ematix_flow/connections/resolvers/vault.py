"""`${vault:path#key}`: HashiCorp Vault or OpenBao, key/value engine versions 1 and 2.

The client is set up as its command line is: VAULT_ADDR, VAULT_TOKEN (or ~/.vault-token),
VAULT_NAMESPACE, VAULT_CACERT, VAULT_SKIP_VERIFY; or VAULT_ROLE_ID and VAULT_SECRET_ID.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from ematix_flow._base.redact import register_secret
from ematix_flow.connections.home import home_of
from ematix_flow.connections.resolvers.port import (
    ResolverContext,
    Secret,
    chosen,
    missing_package,
    unresolved,
)

_LOCAL = "http://127.0.0.1:8200"
_SECONDS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    fields: dict[str, object] = field(repr=False)
    place: str


@dataclass(frozen=True, slots=True)
class VaultResolver:
    """A Vault server."""

    context: ResolverContext

    def fetch(self, reference: str) -> Secret:
        """Return one key of the secret at a path."""
        path, _, key = reference.partition("#")
        address = self.context.environ.get("VAULT_ADDR", _LOCAL)
        try:
            import hvac.exceptions  # type: ignore[import-untyped]  # it has no types
            import requests
        except ImportError:
            raise missing_package("vault", reference, "hvac") from None
        try:
            with closing(requests.Session()) as session:
                client = self._client(reference, session)
                found = _read(client, path)
        except hvac.exceptions.InvalidPath:
            why = f"is not there: {address} has no secret at {path!r}"
            raise unresolved("vault", reference, why) from None
        except hvac.exceptions.Forbidden:
            raise unresolved(
                "vault",
                reference,
                f"is refused: {address} does not let this token read {path!r}",
                hint="check VAULT_TOKEN and the policy behind it",
            ) from None
        except hvac.exceptions.VaultError as error:
            why = f"cannot be fetched from {address}: {type(error).__name__}: {error}"
            raise unresolved("vault", reference, why) from None
        except requests.RequestException as error:
            raise unresolved(
                "vault",
                reference,
                f"cannot be fetched: {address} does not answer ({type(error).__name__})",
                hint="set VAULT_ADDR to the server's address",
            ) from None
        except (TypeError, KeyError):
            # The client hands out what is not JSON as it came, such as the page of a proxy.
            raise unresolved(
                "vault",
                reference,
                f"cannot be fetched: what answers at {address} is not a Vault server",
                hint="set VAULT_ADDR to the server's address",
            ) from None
        value = chosen("vault", reference, found.fields, key)
        return Secret(value=value, source=f"Vault {address}, {found.place}")

    def _client(self, reference: str, session: Any) -> Any:
        import hvac

        environ = self.context.environ
        client = hvac.Client(
            url=environ.get("VAULT_ADDR", _LOCAL),
            token=self._token() or "",
            namespace=environ.get("VAULT_NAMESPACE"),
            verify=_verify(environ.get("VAULT_SKIP_VERIFY"), environ.get("VAULT_CACERT")),
            timeout=_SECONDS,
            session=session,
        )
        if not client.token and "VAULT_ROLE_ID" in environ:
            secret_id = environ.get("VAULT_SECRET_ID")
            register_secret(secret_id or "")
            client.auth.approle.login(environ["VAULT_ROLE_ID"], secret_id)
        if not client.token:
            raise unresolved(
                "vault", reference, "needs a token for Vault", hint="export VAULT_TOKEN=..."
            )
        register_secret(client.token)
        return client

    def _token(self) -> str | None:
        environ = self.context.environ
        if "VAULT_TOKEN" in environ or "VAULT_ROLE_ID" in environ:
            return environ.get("VAULT_TOKEN")
        try:
            return (home_of(environ) / ".vault-token").read_text(encoding="utf-8").strip()
        except OSError:
            return None


def _verify(skip: str | None, authority: str | None) -> bool | str:
    if skip is not None and skip.lower() in ("1", "true"):
        return False
    return authority or True


def _mount(client: Any, path: str) -> tuple[str, int | None]:
    """Return where the engine is mounted and its version; None where a policy hides it."""
    import hvac.exceptions

    try:
        told = client.read(f"sys/internal/ui/mounts/{path}")["data"]
        return told["path"].rstrip("/"), int((told.get("options") or {}).get("version", 1))
    except (hvac.exceptions.Forbidden, TypeError, KeyError):
        return path.partition("/")[0], None


def _read(client: Any, path: str) -> _Found:
    import hvac.exceptions

    mount, version = _mount(client, path)
    inner = path.removeprefix(f"{mount}/")
    if version is not None:
        return _read_version(client, mount, inner, version)
    try:
        return _read_version(client, mount, inner, 2)
    except (hvac.exceptions.Forbidden, hvac.exceptions.InvalidPath):
        return _read_version(client, mount, inner, 1)


def _read_version(client: Any, mount: str, inner: str, version: int) -> _Found:
    kv = client.secrets.kv
    if version == 1:
        fields = kv.v1.read_secret(inner, mount_point=mount)["data"]
    else:
        inner = inner.removeprefix("data/")  # as the HTTP API spells it
        answer = kv.v2.read_secret_version(inner, mount_point=mount, raise_on_deleted_version=True)
        fields = answer["data"]["data"]
    return _Found(fields=fields, place=f"{mount}/{inner} (KV version {version})")
