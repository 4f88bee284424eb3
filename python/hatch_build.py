"""Builds a wheel for one platform, with the program in it.

LOSSEP_PLATFORM names the platform as Go does, such as linux/arm64; without it the wheel is
for the machine that builds it. Go is needed to build, and not to install.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A static binary asks little of a Linux system; Go 1.26 asks for macOS 12.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
}


class ProgramBuildHook(BuildHookInterface):
    """Compiles the program and puts it into the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        source = Path(self.root).parent
        platform = os.environ.get("LOSSEP_PLATFORM") or "/".join(
            subprocess.run(["go", "env", name], check=True, capture_output=True, text=True).stdout.strip()
            for name in ("GOOS", "GOARCH")
        )
        if platform not in TAGS:
            raise SystemExit(f"no wheel is made for {platform}; there are {', '.join(TAGS)}")
        system, machine = platform.split("/")
        name = "lossep.exe" if system == "windows" else "lossep"
        program = Path(self.root) / "build" / platform.replace("/", "-") / name
        environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine}
        subprocess.run(
            ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", str(program), "./cmd/lossep"],
            check=True,
            cwd=source,
            env=environment,
        )
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[platform]}"
        build_data["force_include"][str(program)] = f"lossep/bin/{name}"
