"""Reading documentation as a program: its files are written, its commands run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    body: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            language=match["info"].split(" ")[0],
            title=title[1] if (title := _TITLE.search(match["info"])) else None,
            body=match["body"],
            line=text.count("\n", 0, match.start()) + 1,
        )
        for match in _FENCE.finditer(text)
    ]


def follow(page: Path, folder: Path) -> int:
    """Do what *page* says, in *folder*; return how many blocks were carried out."""
    done = 0
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.title is not None:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            _run([sys.executable, "-c", block.body], folder, where, 0)
        elif block.language == "console":
            _console(block.body, folder, where)
        else:
            continue
        done += 1
    return done


def _console(body: str, folder: Path, where: str) -> None:
    """Run each `$ command`; every line below it must be in its output."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, *expected = part.splitlines()
        words = shlex.split(command, comments=True)
        code = int(found[1]) if (found := re.search(r"# exits with (\d+)", command)) else 0
        assert words[0] == "flow", f"{where}: only flow commands are run, not {words[0]}"
        output = _run([sys.executable, "-m", "ematix_flow.cli", *words[1:]], folder, where, code)
        for line in expected:
            assert line.strip() in output, f"{where}: {command}: {line!r} is not in:\n{output}"


def _run(command: list[str], folder: Path, where: str, code: int) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == code, f"{where}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr
