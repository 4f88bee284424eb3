"""What the documents show is run: the notebooks, the example, and the README's code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["first-decision", "audit-lightgbm"])
def test_notebook(name):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if "lightgbm" in name:
        pytest.importorskip("lightgbm")
    notebook = nbformat.read(HERE / "notebooks" / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error" and output.get("name") != "stderr", output
    last = notebook.cells[-1].outputs[0].data["text/plain"]
    assert {"first-decision": "True", "audit-lightgbm": "569 cases"}[name] in last


def test_example():
    pytest.importorskip("pandas")
    done = subprocess.run([sys.executable, HERE / "examples" / "pipeline.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    costs = [float(line.split()[0]) for line in done.stdout.splitlines() if re.match(r" +\d", line)]
    assert len(costs) == 5 and costs == sorted(costs) and costs[0] < 0.73, "below that of acting always"


def test_readme(tmp_path, monkeypatch):
    """The README's code, block after block, prints what stands below it.

    Digits are left out: they are those of the defaults, which get better.
    """
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    text = (HERE / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```(?:\n+```\n(.*?)```)?", text, re.S)
    assert len(blocks) >= 3
    program = "\n".join(code + "\nprint('-----')\n" for code, _ in blocks)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for (_, wanted), printed in zip(blocks, done.stdout.split("-----\n"), strict=False):
        assert re.sub(r"-?\d+\.?\d*", "#", printed).split() == re.sub(r"-?\d+\.?\d*", "#", wanted).split()
