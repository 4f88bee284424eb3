"""Where the program is, and the command ``lossep``, which is that program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def binary() -> str:
    """The program: what LOSSEP_BINARY names, the one in this package, or one on the path."""
    named = os.environ.get("LOSSEP_BINARY")
    if named:
        return named
    inside = Path(__file__).with_name("bin") / ("lossep.exe" if os.name == "nt" else "lossep")
    if inside.is_file():
        return str(inside)
    found = shutil.which("lossep")
    if found and not _is_script(found):
        return found
    raise FileNotFoundError(
        "the program lossep is not in this package; install a wheel for this platform, "
        "or name the program in the environment variable LOSSEP_BINARY"
    )


def _is_script(path: str) -> bool:
    """Tells the entry point of this package, which would only come back here."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def main() -> None:
    """The entry point ``lossep``: becomes the program."""
    program = binary()
    arguments = [program, *sys.argv[1:]]
    if os.name == "nt":  # which has no exec that keeps the console
        sys.exit(subprocess.call(arguments))
    os.execv(program, arguments)
