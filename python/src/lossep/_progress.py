"""Progress of long work: by tqdm where it is installed and somebody watches."""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lossep._worker import Progress


def _watched() -> bool:
    """Whether this is a terminal or a notebook, and not one of several processes."""
    if multiprocessing.current_process().name != "MainProcess":
        return False
    ipython = sys.modules.get("IPython")
    if ipython is not None and "ipykernel" in sys.modules and ipython.get_ipython() is not None:
        return True
    return bool(getattr(sys.stderr, "isatty", lambda: False)())


def _tqdm() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about widgets that are not there: a bar of text does
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


@contextmanager
def bar(wanted: bool | None) -> Iterator[Progress | None]:
    """Something to call with progress; it shows a bar once the work takes a second."""
    if wanted is None:
        wanted = _watched()
    tqdm = _tqdm() if wanted else None
    if tqdm is None:
        yield None
        return
    shown: dict[str, Any] = {}

    def show(progress: dict[str, Any]) -> None:
        stage, steps = progress.get("stage", ""), progress.get("steps") or None
        if shown.get("stage") != stage:
            if "bar" in shown:
                shown["bar"].close()
            shown.update(stage=stage, bar=tqdm(desc=stage, total=steps, delay=1, leave=False))
        step = progress.get("step") or progress.get("pass") or 0
        shown["bar"].update(max(0, step - shown["bar"].n))
        if progress.get("log_evidence"):
            shown["bar"].set_postfix_str(f"log evidence {progress['log_evidence']:.2f}", refresh=False)

    try:
        yield show
    finally:
        if "bar" in shown:
            shown["bar"].close()
