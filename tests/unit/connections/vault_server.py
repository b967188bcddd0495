"""A Vault to ask: a real one where `vault` or `bao` is on PATH, else its documented HTTP API.

The stand-in answers what the API pages of the key/value engine, of AppRole and of the mounts
describe: paths, status codes and JSON shapes. The tests are the same for both.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.request import Request, urlopen

from tests.services.polling import until
from tests.services.ports import accepts, free_ports

TOKEN = "root-token-of-the-test"
VERSION_2 = {
    "shop/db": {"password": "vault-two-secret", "port": 5432},
    "one": {"only": "alone-in-two"},
}
ROLE = {"role_id": "flow", "secret_id": "role-secret"}
VERSION_1 = {"old/db": {"password": "vault-one-secret"}}


class _StandIn(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        if self.headers.get("X-Vault-Token") != TOKEN:
            return self._answer(403, {"errors": ["permission denied"]})
        path = self.path.removeprefix("/v1/")
        if path.startswith("sys/internal/ui/mounts/"):
            return self._mount(path.removeprefix("sys/internal/ui/mounts/"))
        if path.startswith("secret/data/"):
            found = VERSION_2.get(path.removeprefix("secret/data/"))
            return self._secret({"data": found, "metadata": {"version": 1}} if found else None)
        # A policy lets it read this one, but not list the mounts.
        return self._secret(VERSION_1.get(path.removeprefix("kv1/").removeprefix("hidden/")))

    def do_POST(self):
        login = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/auth/approle/login" or login != ROLE:
            return self._answer(400, {"errors": ["invalid role or secret ID"]})
        return self._answer(200, {"auth": {"client_token": TOKEN}})

    def _mount(self, path):
        for mount, version in (("secret", "2"), ("kv1", "1")):
            if path.startswith(f"{mount}/"):
                told = {"path": f"{mount}/", "type": "kv", "options": {"version": version}}
                return self._answer(200, {"data": told})
        return self._answer(403, {"errors": ["preflight capability check returned 403"]})

    def _secret(self, data):
        return self._answer(200, {"data": data}) if data else self._answer(404, {"errors": []})

    def _answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextmanager
def stand_in():
    """Serve the documented API on a free port; give its address and what was asked."""
    _StandIn.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _StandIn)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def binary():
    """Return where a real server is installed, or None."""
    return shutil.which("vault") or shutil.which("bao")


@contextmanager
def real(program, log):
    """Run a development server in memory, with the same secrets; give its address."""
    [port] = free_ports(1)
    command = [program, "server", "-dev", "-dev-no-store-token"]
    command += [f"-dev-root-token-id={TOKEN}", f"-dev-listen-address=127.0.0.1:{port}"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            assert until(lambda: accepts(port), seconds=30), log.read_text()
            address = f"http://127.0.0.1:{port}"
            assert until(lambda: _ready(address), seconds=30), log.read_text()
            _put(address, "sys/mounts/kv1", {"type": "kv", "options": {"version": "1"}})
            for path, data in VERSION_2.items():
                _put(address, f"secret/data/{path}", {"data": data})
            for path, data in VERSION_1.items():
                _put(address, f"kv1/{path}", data)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=30)


def _ready(address):
    try:
        with urlopen(f"{address}/v1/sys/health", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def _put(address, path, body):
    asked = Request(f"{address}/v1/{path}", data=json.dumps(body).encode(), method="POST")
    asked.add_header("X-Vault-Token", TOKEN)
    urlopen(asked, timeout=10).close()
