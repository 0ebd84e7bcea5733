"""The examples of the README, run in their order, with the outputs that it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```(python|text)\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
URL = os.environ.get("TRACKING_URL", "")


def with_outputs() -> list[tuple[str, str]]:
    """Returns each Python block with the text block after it; the output of other blocks is empty."""
    following = [*BLOCKS[1:], ("", "")]
    pairs = [pair for pair in zip(BLOCKS, following, strict=True) if pair[0][0] == "python"]
    return [(code, after if kind == "text" else "") for (_, code), (kind, after) in pairs]


@pytest.mark.skipif(not URL, reason="TRACKING_URL is not set")
@pytest.mark.parametrize(("code", "output"), with_outputs())
def test_example(code: str, output: str, tmp_path: Path) -> None:
    (tmp_path / "bl.pdf").write_bytes(b"%PDF-1.7\n%%EOF\n")
    environment = {**os.environ, "API_KEY": os.environ["TRACKING_API_KEY"]}
    command = [sys.executable, "-W", "error", "-c", code.replace("http://127.0.0.1:3000", URL)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.stderr, ran.stdout) == ("", output)


def test_examples_have_types(tmp_path: Path) -> None:
    for number, (code, _) in enumerate(with_outputs()):
        (tmp_path / f"example_{number}.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.stdout.startswith("Success"), ran.stdout
