"""Reach a Spark Connect server, or say within seconds why not.

Left alone, the client retries an unreachable address for ten minutes. So the
port is tried first, then the protocol, each with a deadline.
"""

from __future__ import annotations

import atexit
import contextlib
import socket
from typing import Any

from ematix_flow._base.redact import redact
from ematix_flow.engine.choice import ConnectAddress, connect_address
from ematix_flow.errors import EngineError, EngineUnreachable

PREFLIGHT_SECONDS = 5.0
_PING = "/grpc.health.v1.Health/Check"
# After the first answer, a server that goes away is waited for this often: about 30 s.
_RETRIES = 6
_SLOWEST_RETRY_MS = 10_000


def preflight(url: str, *, seconds: float = PREFLIGHT_SECONDS) -> None:
    """Raise `EngineUnreachable` unless a gRPC server answers at *url*."""
    address = connect_address(url)
    _try_port(address, seconds)
    import grpc
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.client import DefaultChannelBuilder

    try:
        channel = DefaultChannelBuilder(url).toChannel()
    except PySparkException as error:
        raise EngineError(
            f"{address.printable} is not a Spark Connect address: {redact(error.getMessage())}"
        ) from None
    try:
        # Any answer will do, a refusal too. (grpc's own test of readiness polls every 0.2 s.)
        ping: Any = channel.unary_unary(_PING)
        ping(b"", timeout=seconds, wait_for_ready=True)
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            raise EngineUnreachable(
                f"{address.printable} accepts connections but does not answer as a Spark Connect "
                f"server{_tls_remark(address)} (waited {seconds:g} s)",
                hint=_tls_hint(address),
            ) from None
    finally:
        channel.close()


def patience(session: Any) -> None:
    """Make *session*'s client give up within half a minute instead of ten."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session.client.set_retry_policies(
        [DefaultPolicy(max_retries=_RETRIES, max_backoff=_SLOWEST_RETRY_MS)]
    )


def quiet_exit(client: Any) -> None:
    """Keep *client* from asking the server once more when the process ends.

    It would empty a cache that goes with the session anyway, and hang on a server that hangs.
    """
    cleanup: Any = getattr(client, "_cleanup_ml_cache", None)
    atexit.unregister(cleanup)


def retire(client: Any) -> None:
    """Close *client* for good.

    pyspark closes it again whenever its session is garbage-collected; in the middle of another
    client's work that waits for a lock which its own thread holds: forever.
    """
    client.close()
    client.close = lambda: None


def check_version(server: str, address: str) -> tuple[str, ...]:
    """Return notes on the server's Spark version; another major version is an error."""
    import pyspark

    ours = pyspark.__version__
    if _numbers(server)[:1] != _numbers(ours)[:1]:
        raise EngineError(
            f"{address} runs Spark {server}, this client is pyspark {ours}",
            hint="client and server must have the same major version",
        )
    if _numbers(server)[:2] != _numbers(ours)[:2]:
        return (f"the server runs Spark {server}, the client is pyspark {ours}",)
    return ()


def _try_port(address: ConnectAddress, seconds: float) -> None:
    try:
        with contextlib.closing(
            socket.create_connection((address.host, address.port), timeout=seconds)
        ):
            return
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise EngineUnreachable(
            f"nothing answers at {address.printable}: {reason.lower()}",
            hint="check the address, and that the Spark Connect server is up",
        ) from None


def _tls_remark(address: ConnectAddress) -> str:
    return " over TLS" if _insists_on_tls(address) else ""


def _tls_hint(address: ConnectAddress) -> str:
    if _insists_on_tls(address) and address.host in {"127.0.0.1", "::1"}:
        return (
            "with a token, pyspark does without TLS only for the name localhost: "
            f"write sc://localhost:{address.port}"
        )
    return "check the port, and whether the server wants TLS (`;use_ssl=true`)"


def _insists_on_tls(address: ConnectAddress) -> bool:
    """A token makes pyspark insist on TLS unless the host is literally `localhost`."""
    names = {name.casefold() for name, _ in address.parameters}
    return "use_ssl" in names or ("token" in names and address.host != "localhost")


def _numbers(version: str) -> list[str]:
    return version.split(".")
