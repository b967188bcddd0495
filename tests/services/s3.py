"""An S3 endpoint: versitygw on a folder. It is light, and it refuses wrong secrets."""

from __future__ import annotations

import errno
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.services.account import Account
from tests.services.cache import cached
from tests.services.home import Home
from tests.services.install import go_install, python_client
from tests.services.ports import LOOPBACK, PortPicker, accepts, free_ports, on_free_ports
from tests.services.process import await_answer, spawn, terminate
from tests.services.service import Running

VERSION = "v1.8.0"
PACKAGE = f"github.com/versity/versitygw/cmd/versitygw@{VERSION}"
REGION = "us-east-1"
# A bucket of this name is in every listing; tests that list buckets have to look for their own.
MARKER_BUCKET = "ematix-flow-identity"
MARKER_KEY = "marker"


@dataclass(frozen=True, slots=True)
class S3:
    home: Home
    pick_ports: PortPicker = free_ports

    name: ClassVar[str] = "s3"

    def install(self) -> None:
        python_client("boto3", "boto3")
        self._gateway()

    def account(self) -> Account | None:
        return None

    def start(self, directory: Path) -> Running:
        for folder in ("data", "versions", "sidecar"):
            (directory / folder).mkdir()
        return on_free_ports(
            1, lambda ports: self._serve(directory, ports[0]), pick=self.pick_ports
        )

    def is_ours(self, running: Running) -> bool:
        """Whether the server hands out the marker that lies in our data directory.

        Read through the server and from the disk: only the server on this very folder agrees.
        """
        if not accepts(running.port):
            return False
        exceptions = python_client("botocore.exceptions", "boto3")
        try:
            answer = connect(running).get_object(Bucket=MARKER_BUCKET, Key=MARKER_KEY)
            told = answer["Body"].read()
            kept = (running.data_dir / MARKER_BUCKET / MARKER_KEY).read_bytes()
        except (exceptions.BotoCoreError, exceptions.ClientError, OSError):
            return False
        return bool(told == kept == running.facts["marker"].encode())

    def stop(self, running: Running) -> None:
        terminate(running.pid)

    def _serve(self, directory: Path, port: int) -> Running:
        data = directory / "data"
        access_key, secret_key = secrets.token_hex(8), secrets.token_hex(20)
        options: list[str | Path] = ["--versioning-dir", directory / "versions"]
        if not _keeps_attributes(data):
            options += ["--sidecar", directory / "sidecar"]
        pid = spawn(
            [self._gateway(), "--port", f"{LOOPBACK}:{port}", "--quiet", "posix", *options, data],
            directory=directory,
            env={
                "ROOT_ACCESS_KEY": access_key,
                "ROOT_SECRET_KEY": secret_key,
                "VGW_REGION": REGION,
            },
        )
        running = Running(
            name=self.name,
            host=LOOPBACK,
            port=port,
            ports={"http": port},
            data_dir=data,
            pid=pid,
            facts={
                "endpoint": f"http://{LOOPBACK}:{port}",
                "region": REGION,
                "access_key": access_key,
                "secret_key": secret_key,
                "marker": secrets.token_hex(16),
            },
        )

        def answers() -> bool:
            return accepts(port) and _leave_marker(running) and self.is_ours(running)

        await_answer(pid, directory=directory, answers=answers)
        return running

    def _gateway(self) -> Path:
        built = cached(
            self.home.installs / f"versitygw-{VERSION}", lambda into: go_install(PACKAGE, into)
        )
        return built / "versitygw"


def connect(running: Running) -> Any:
    config = python_client("botocore.config", "boto3").Config(
        s3={"addressing_style": "path"},
        retries={"max_attempts": 0},
        connect_timeout=5,
        read_timeout=10,
        # Loopback must not go through the proxy of the environment.
        proxies={},
    )
    return python_client("boto3", "boto3").client(
        "s3",
        endpoint_url=running.facts["endpoint"],
        region_name=running.facts["region"],
        aws_access_key_id=running.facts["access_key"],
        aws_secret_access_key=running.facts["secret_key"],
        config=config,
    )


def _leave_marker(running: Running) -> bool:
    """Put the marker through the server; False if the server there does not take our keys."""
    exceptions = python_client("botocore.exceptions", "boto3")
    s3 = connect(running)
    try:
        if not (running.data_dir / MARKER_BUCKET).exists():
            s3.create_bucket(Bucket=MARKER_BUCKET)
        s3.put_object(Bucket=MARKER_BUCKET, Key=MARKER_KEY, Body=running.facts["marker"].encode())
    except (exceptions.BotoCoreError, exceptions.ClientError):
        return False
    return True


def _keeps_attributes(folder: Path) -> bool:
    """Whether the file system keeps extended attributes, where the gateway puts metadata."""
    try:
        os.setxattr(folder, "user.ematix-flow", b"1")
    except OSError as refused:
        if refused.errno in (errno.ENOTSUP, errno.EPERM, errno.EACCES):
            return False
        raise
    os.removexattr(folder, "user.ematix-flow")
    return True
