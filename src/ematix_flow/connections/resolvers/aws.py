"""`${aws:name#field}`: AWS Secrets Manager, with the credentials of the standard chain."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ematix_flow.connections.resolvers.port import (
    ResolverContext,
    Secret,
    chosen,
    missing_package,
    unresolved,
)

_SECONDS = 15


@dataclass(frozen=True, slots=True)
class AwsResolver:
    """AWS Secrets Manager."""

    context: ResolverContext

    def fetch(self, reference: str) -> Secret:
        """Return a secret, or one field of a secret that is JSON."""
        name, _, field = reference.partition("#")
        try:
            import boto3  # type: ignore[import-untyped]  # it has no types
            from botocore.config import Config  # type: ignore[import-untyped]  # it has no types
            from botocore.exceptions import (  # type: ignore[import-untyped]  # it has no types
                BotoCoreError,
                ClientError,
            )
        except ImportError:
            raise missing_package("aws", reference, "boto3") from None
        try:
            config = Config(
                connect_timeout=_SECONDS, read_timeout=_SECONDS, retries={"total_max_attempts": 2}
            )
            # The chain itself reads AWS_DEFAULT_REGION only.
            region = _region_of(name) or self.context.environ.get("AWS_REGION")
            made = boto3.client("secretsmanager", region_name=region, config=config)
            with closing(made) as client:
                answer = client.get_secret_value(SecretId=name)
                source = f"AWS Secrets Manager {client.meta.region_name}, {name}"
        except ClientError as error:
            told = error.response.get("Error", {})
            why = f"is refused by AWS: {told.get('Code')}: {told.get('Message')}"
            raise unresolved("aws", reference, why) from None
        except BotoCoreError as error:
            raise unresolved(
                "aws",
                reference,
                f"cannot be fetched from AWS: {error}",
                hint="set AWS_REGION and credentials, as for the aws command",
            ) from None
        return Secret(value=_value(reference, answer, field), source=source)


def _region_of(name: str) -> str | None:
    """Return the region that a full name (an ARN) says; else the chain knows it."""
    parts = name.split(":")
    return parts[3] or None if parts[0] == "arn" and len(parts) > 3 else None


def _value(reference: str, answer: dict[str, Any], field: str) -> str:
    text = answer.get("SecretString")
    if text is None:
        try:
            text = answer["SecretBinary"].decode("utf-8")
        except UnicodeDecodeError:
            raise unresolved("aws", reference, "is binary, not text") from None
    if not field:
        return str(text)
    try:
        fields = json.loads(text)
    except json.JSONDecodeError:
        fields = None
    if not isinstance(fields, dict):
        raise unresolved(
            "aws",
            reference,
            "names a field, but the secret is not a JSON object",
            hint=f"write ${{aws:{reference.partition('#')[0]}}}",
        )
    return chosen("aws", reference, fields, field)
