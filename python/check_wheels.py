"""Looks into wheels: python check_wheels.py dist/*.whl.

Every file is as the list in the wheel says, the program is for the platform that the name
says and may be run, and what the package needs is all there.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import struct
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

PROGRAMS = {  # by how the platform's tag begins and ends
    ("manylinux", "x86_64"): ("lossep", b"\x7fELF\x02\x01", 18, "<H", 62),
    ("manylinux", "aarch64"): ("lossep", b"\x7fELF\x02\x01", 18, "<H", 183),
    ("macosx", "x86_64"): ("lossep", b"\xcf\xfa\xed\xfe", 4, "<I", 0x01000007),
    ("macosx", "arm64"): ("lossep", b"\xcf\xfa\xed\xfe", 4, "<I", 0x0100000C),
    ("win", "amd64"): ("lossep.exe", b"MZ", -1, "<H", 0x8664),
}


def check(path: Path) -> str:
    """Looks into a wheel and says what it is; raises SystemExit where something is wrong."""

    def need(holds: bool, what: str) -> None:
        if not holds:
            raise SystemExit(f"{path.name}: {what}")

    name, version, python, abi, platforms = path.stem.split("-")
    platform = platforms.split(".")[0]
    program, magic, at, kind, machine = next(
        found for (begin, end), found in PROGRAMS.items() if platform.startswith(begin) and platform.endswith(end)
    )
    with zipfile.ZipFile(path) as wheel:
        info = f"{name}-{version}.dist-info"
        record = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(f"{info}/RECORD").decode()))}
        need(sorted(record) == sorted(wheel.namelist()), "RECORD lists other files than there are")
        for file, (digest, size) in record.items():
            content = wheel.read(file)
            if file == f"{info}/RECORD":
                continue
            found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            need(digest == f"sha256={found}" and size == str(len(content)), f"{file} is not what RECORD says")
        for file in ("lossep/__init__.py", "lossep/py.typed", "lossep/LICENSE", f"{info}/entry_points.txt"):
            need(file in record, f"{file} is missing")
        need("lossep = lossep._binary:main" in wheel.read(f"{info}/entry_points.txt").decode(), "there is no command")
        tags = Parser().parsestr(wheel.read(f"{info}/WHEEL").decode()).get_all("Tag")
        need(sorted(tags or ()) == sorted(f"{python}-{abi}-{p}" for p in platforms.split(".")), f"its tags are {tags}")
        needed = Parser().parsestr(wheel.read(f"{info}/METADATA").decode()).get_all("Requires-Dist") or []
        always = sorted(line.split(">")[0] for line in needed if "extra" not in line)
        need(always == ["numpy", "scikit-learn"], f"it needs {always}")
        entry = wheel.getinfo(f"lossep/bin/{program}")
        need(entry.external_attr >> 16 & 0o111 == 0o111, "the program may not be run")
        binary = wheel.read(entry)
        if at < 0:  # where the header is stands in the file
            at = struct.unpack_from("<I", binary, 60)[0] + 4
        need(binary.startswith(magic) and struct.unpack_from(kind, binary, at)[0] == machine, "the program is for another platform")
        need(len([file for file in record if "/bin/" in file]) == 1, "there is more than one program")
    return f"{path.name}: {len(record)} files, {path.stat().st_size / 1e6:.1f} MB, {program} {len(binary) / 1e6:.1f} MB"


def main() -> None:
    wheels = [Path(argument) for argument in sys.argv[1:]]
    for wheel in wheels:
        print(check(wheel))


if __name__ == "__main__":
    main()
