"""A throw-away certificate authority with one server and one client certificate, as PEM files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.services.process import must_run

DAYS = "3650"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """`*_chain` files hold key and certificate in one, the form in which Kafka reads PEM."""

    authority: Path
    server_chain: Path
    client: Path
    client_key: Path
    client_chain: Path


def issue(folder: Path, *, openssl: Path) -> Certificates:
    """Make an authority in `folder` and let it sign a server and a client for 127.0.0.1."""
    folder.mkdir()
    must_run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", DAYS),
            *("-subj", "/CN=ematix-flow-test-authority"),
            *("-keyout", "authority.key", "-out", "authority.crt"),
        ],
        directory=folder,
    )
    for name in ("server", "client"):
        _sign(folder, name, openssl)
    return Certificates(
        authority=folder / "authority.crt",
        server_chain=folder / "server.pem",
        client=folder / "client.crt",
        client_key=folder / "client.key",
        client_chain=folder / "client.pem",
    )


def _sign(folder: Path, name: str, openssl: Path) -> None:
    must_run(
        [
            *(openssl, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"),
            *("-keyout", f"{name}.key", "-out", f"{name}.csr"),
        ],
        directory=folder,
    )
    (folder / f"{name}.ext").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    must_run(
        [
            *(openssl, "x509", "-req", "-in", f"{name}.csr", "-days", DAYS),
            *("-CA", "authority.crt", "-CAkey", "authority.key", "-CAcreateserial"),
            *("-extfile", f"{name}.ext", "-out", f"{name}.crt"),
        ],
        directory=folder,
    )
    parts = [(folder / f"{name}.{ending}").read_text() for ending in ("key", "crt")]
    (folder / f"{name}.pem").write_text("".join(parts))
