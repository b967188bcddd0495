"""`${gcp:name}`: Google Secret Manager, with the credentials of the standard chain.

A name is short (the project is then GOOGLE_CLOUD_PROJECT) or full
(`projects/p/secrets/s`); `#3` or `/versions/3` asks for a version other than the latest.
SECRET_MANAGER_EMULATOR_HOST names a server that speaks plain gRPC without a login.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ematix_flow.connections.resolvers.port import (
    ResolverContext,
    Secret,
    missing_package,
    unresolved,
)

_EMULATOR = "SECRET_MANAGER_EMULATOR_HOST"
_SECONDS = 15


@dataclass(frozen=True, slots=True)
class GcpResolver:
    """Google Secret Manager."""

    context: ResolverContext

    def fetch(self, reference: str) -> Secret:
        """Return the text of one version of a secret."""
        name = self._full_name(reference)
        try:
            from google.api_core.exceptions import GoogleAPICallError, RetryError
            from google.api_core.retry import Retry
            from google.auth.exceptions import GoogleAuthError
        except ImportError:
            raise missing_package("gcp", reference, "google-cloud-secret-manager") from None
        try:
            with self._client(reference) as client:
                # Its own retries would go on for a minute.
                answer = client.access_secret_version(
                    name=name, timeout=_SECONDS, retry=Retry(timeout=_SECONDS)
                )
        except GoogleAPICallError as error:
            why = f"is refused by Google: {type(error).__name__}: {error.message}"
            raise unresolved("gcp", reference, why) from None
        except RetryError as error:
            why = f"cannot be fetched: Google does not answer ({error.cause})"
            raise unresolved("gcp", reference, why) from None
        except GoogleAuthError as error:
            raise unresolved(
                "gcp",
                reference,
                f"cannot be fetched from Google: {type(error).__name__}: {error}",
                hint="log in: gcloud auth application-default login",
            ) from None
        try:
            value = answer.payload.data.decode("utf-8")
        except UnicodeDecodeError:
            raise unresolved("gcp", reference, "is binary, not text") from None
        return Secret(value=value, source=f"Google Secret Manager, {answer.name or name}")

    def _full_name(self, reference: str) -> str:
        name, _, version = reference.partition("#")
        if not name.startswith("projects/"):
            project = self.context.environ.get("GOOGLE_CLOUD_PROJECT")
            if not project:
                raise unresolved(
                    "gcp",
                    reference,
                    "is a short name, and the variable GOOGLE_CLOUD_PROJECT is not set",
                    hint=f"export GOOGLE_CLOUD_PROJECT=..., or write "
                    f"${{gcp:projects/PROJECT/secrets/{reference}}}",
                )
            name = f"projects/{project}/secrets/{name}"
        return name if "/versions/" in name else f"{name}/versions/{version or 'latest'}"

    def _client(self, reference: str) -> Any:
        try:
            from google.cloud import secretmanager_v1
            from google.cloud.secretmanager_v1.services.secret_manager_service import transports
        except ImportError:
            raise missing_package("gcp", reference, "google-cloud-secret-manager") from None
        host = self.context.environ.get(_EMULATOR)
        if not host:
            return secretmanager_v1.SecretManagerServiceClient()
        import grpc

        channel = grpc.insecure_channel(host)
        transport = transports.SecretManagerServiceGrpcTransport(channel=channel)
        return secretmanager_v1.SecretManagerServiceClient(transport=transport)
