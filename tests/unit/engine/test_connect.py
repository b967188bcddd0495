"""An address where nobody answers is one clear error within seconds."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from unittest import mock

import pytest

from ematix_flow.engine.spark.connect import check_version, preflight, quiet_exit, retire
from ematix_flow.errors import EngineError, EngineUnreachable


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.proves("bad-engine")
def test_a_closed_port_is_unreachable_at_once():
    begin = time.monotonic()
    with pytest.raises(EngineUnreachable, match="connection refused"):
        preflight(f"sc://localhost:{free_port()}")
    assert time.monotonic() - begin < 3


def test_an_unknown_host_is_unreachable_and_keeps_its_token_secret():
    with pytest.raises(EngineUnreachable) as caught:
        preflight("sc://no-such-host.invalid:15002/;token=canary-4713")
    assert "canary" not in str(caught.value)
    assert "sc://no-such-host.invalid:15002" in str(caught.value)


@pytest.mark.slow
@pytest.mark.proves("bad-engine")
def test_a_port_that_listens_but_does_not_answer_is_unreachable():
    pytest.importorskip("grpc")
    expected = pytest.raises(EngineUnreachable, match="does not answer as a Spark Connect server")
    with closing(socket.create_server(("127.0.0.1", 0))) as mute, expected:
        preflight(f"sc://localhost:{mute.getsockname()[1]}", seconds=0.5)


@pytest.mark.slow
def test_a_token_for_a_loopback_address_hints_at_localhost():
    pytest.importorskip("grpc")
    with closing(socket.create_server(("127.0.0.1", 0))) as mute:
        port = mute.getsockname()[1]
        with pytest.raises(EngineUnreachable, match=f"write sc://localhost:{port}") as caught:
            preflight(f"sc://127.0.0.1:{port}/;token=canary-4714", seconds=0.5)
    assert "canary" not in str(caught.value)


def test_any_answer_will_do_and_it_is_quick():
    grpc = pytest.importorskip("grpc")
    server = grpc.server(ThreadPoolExecutor(1))  # it knows no method at all
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        preflight(f"sc://localhost:{port}")
    finally:
        server.stop(None).wait()


def test_a_retired_client_is_closed_once_and_asks_nothing_at_exit():
    closed = []

    class Client:
        def __init__(self) -> None:
            self.close = lambda: closed.append(self)

        def _cleanup_ml_cache(self) -> None:
            raise AssertionError

    client = Client()
    with mock.patch("atexit.unregister") as unregister:
        quiet_exit(client)
    unregister.assert_called_once_with(client._cleanup_ml_cache)
    retire(client)
    client.close()
    assert len(closed) == 1


def test_versions_are_compared():
    pyspark = pytest.importorskip("pyspark")
    major, minor, *_ = pyspark.__version__.split(".")
    assert check_version(pyspark.__version__, "sc://x") == ()
    assert "runs Spark" in check_version(f"{major}.{int(minor) + 1}.0", "sc://x")[0]
    with pytest.raises(EngineError, match="same major version"):
        check_version(f"{int(major) - 1}.5.0", "sc://x")
