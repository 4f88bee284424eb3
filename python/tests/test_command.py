"""The command: it comes with the package, and gives the same bits."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import lossep
from lossep import LossepClassifier
from lossep._binary import binary


def command(*arguments, **options):
    done = subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_comes_along():
    wanted = command("--version")
    assert lossep.__version__ in wanted
    assert subprocess.run([sys.executable, "-m", "lossep", "--version"], capture_output=True, text=True).stdout == wanted
    script = Path(sysconfig.get_path("scripts")) / "lossep"
    if script.exists():
        assert subprocess.run([script, "--version"], capture_output=True, text=True).stdout == wanted
        failed = subprocess.run([script, "cook"], capture_output=True, text=True)
        assert failed.returncode == 2 and "unknown" in failed.stderr
    slim = "import sys, lossep._binary; sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", slim]).returncode == 0, "the command waits for nothing"


@pytest.mark.parametrize("options", [{"method": "ep", "kernel": "matern32 + constant"}, pytest.param({}, marks=pytest.mark.slow)])
def test_same_bits_as_the_command_on_german_credit(german, tmp_path, options):
    X, y = german
    table = tmp_path / "german.csv"
    X.assign(**{"class": y}).to_csv(table, index=False)
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    report = json.loads(
        command(
            "fit",
            table,
            "--target",
            "class",
            "--positive",
            2,
            "--cost",
            "fn=5,fp=1",
            "-o",
            tmp_path / "m",
            "--format",
            "json",
            *flags,
        )
    )
    m = LossepClassifier(cost="fn=5,fp=1", pos_label=2, **options).fit(X, y)
    assert m.log_evidence_ == report["log_evidence"] and m.kernel_ == report["kernel"] and m.loo_cost_ == report["loo_cost"]
    assert m.model_.file == (tmp_path / "m").read_bytes(), "the model files are the same, byte for byte"
    decided = list(csv.DictReader(io.StringIO(command("decide", tmp_path / "m", table))))
    d = m.decide(X)
    assert [row["action"] for row in decided] == d.action.tolist()
    assert [float(row["probability"]) for row in decided] == m.predict_proba(X)[:, 1].tolist()
    assert [float(row["cost_negative"]) for row in decided] == d.expected[:, 0].tolist()
    assert [float(row["margin"]) for row in decided] == d.margin.tolist()
    loaded = LossepClassifier.load(tmp_path / "m")
    assert (loaded.predict_proba(X) == m.predict_proba(X)).all() and loaded.classes_.tolist() == [1, 2]


def test_the_command_reads_what_is_saved(model, rows, tmp_path):
    X, _ = rows
    model.save(tmp_path / "m")
    table = tmp_path / "new.csv"
    np.savetxt(table, X, delimiter=",", header="x0,x1,x2,x3", comments="", fmt="%.17g")
    found = list(csv.DictReader(io.StringIO(command("predict", tmp_path / "m", table))))
    assert [float(row["probability"]) for row in found] == model.predict_proba(X)[:, 1].tolist()


def test_licences():
    assert "Apache" in command("licences")
