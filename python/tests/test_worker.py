"""The process beside: forks, threads, interrupts, and a worker that is killed."""

from __future__ import annotations

import _thread
import contextlib
import copy
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score

import lossep
from lossep import LossepClassifier, _frames, _progress, _worker

posix = pytest.mark.skipif(os.name == "nt", reason="there are no such signals")


def long_fit(**options):
    """A fit that takes long enough to be disturbed, and its rows."""
    X, y = make_classification(1500, 20, flip_y=0.2, random_state=1)
    return LossepClassifier(kernel="rbf(ard) + matern32(ard) + linear", method="vi", inducing="none", restarts=9, **options), X, y


def test_pickle_and_copy(model, rows, tmp_path):
    X, _ = rows
    p = model.predict_proba(X)
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert (other.predict_proba(X) == p).all() and other.kernel_ == model.kernel_
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps((model, X)))
    program = (
        "import pickle, sys; m, X = pickle.load(open(sys.argv[1], 'rb')); sys.stdout.buffer.write(m.predict_proba(X).tobytes())"
    )
    out = subprocess.run([sys.executable, "-c", program, str(path)], check=True, capture_output=True).stdout
    assert out == p.tobytes(), "in another process the same bits"


def _in_child(pipe, model, X):
    pipe.send((model.predict_proba(X), _worker.worker().pid))
    pipe.close()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork")
def test_fork(model, rows):
    X, _ = rows
    p, mine = model.predict_proba(X), _worker.worker().pid
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_in_child, args=(theirs, model, X))
    child.start()
    q, pid = ours.recv()
    child.join(30)
    assert child.exitcode == 0
    assert (q == p).all() and pid != mine
    assert (model.predict_proba(X) == p).all() and _worker.worker().pid == mine


def test_several_jobs(rows):
    X, y = rows
    model, scoring = LossepClassifier(kernel="rbf", method="ep"), lossep.make_cost_scorer("fn=5,fp=1")
    alone = cross_val_score(model, X, y, cv=4, scoring=scoring)
    for backend in ("loky", "threading"):
        import joblib

        with joblib.parallel_backend(backend):
            assert (cross_val_score(model, X, y, cv=4, scoring=scoring, n_jobs=2) == alone).all()


def test_threads(model, rows):
    X, _ = rows
    p = model.predict_proba(X)
    with ThreadPoolExecutor(8) as pool:
        for k, q in pool.map(lambda k: (k, model.predict_proba(X[: k % 7 + 1])), range(60)):
            assert (q == p[: k % 7 + 1]).all()


@posix
@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_killed_between_calls(model, rows, how):
    X, _ = rows
    p = model.predict_proba(X)
    os.kill(_worker.worker().pid, getattr(signal, how))
    time.sleep(0.2)
    assert (model.predict_proba(X) == p).all()


@posix
def test_an_interrupt_of_the_terminal_is_not_for_the_worker(model, rows):
    X, _ = rows
    p, pid = model.predict_proba(X), _worker.worker().pid
    os.kill(pid, signal.SIGINT)
    time.sleep(0.2)
    assert (model.predict_proba(X) == p).all() and _worker.worker().pid == pid


def kill_at_work(worker):
    """Kills the worker once it has been asked for something."""

    def kill():
        while not worker._waiting:
            time.sleep(0.001)
        time.sleep(0.1)
        os.kill(worker.pid, signal.SIGKILL)

    threading.Thread(target=kill).start()


@posix
def test_killed_in_a_fit(model, rows):
    X, _ = rows
    p = model.predict_proba(X)
    estimator, many, y = long_fit()
    kill_at_work(_worker.worker())
    with pytest.raises(lossep.WorkerError, match=r"ended by signal 9.*next call starts another"):
        estimator.fit(many, y)
    assert (model.predict_proba(X) == p).all()


@posix
def test_killed_in_a_prediction(rows):
    X, y = rows
    m = LossepClassifier(kernel="rbf", method="corrected").fit(X, y)
    p = m.predict_proba(X)
    many = np.tile(X, (4000, 1))
    kill_at_work(_worker.worker())
    with pytest.raises(lossep.WorkerError, match="gone"):
        m.predict_proba(many)
    assert (m.predict_proba(X) == p).all()


@posix
def test_interrupt(model, rows):
    X, _ = rows
    p, pid = model.predict_proba(X), _worker.worker().pid
    estimator, many, y = long_fit()
    threading.Timer(0.5, _thread.interrupt_main).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(many, y)
    assert time.monotonic() - start < 10
    assert (model.predict_proba(X) == p).all() and _worker.worker().pid == pid, "the worker goes on"
    deadline = time.monotonic() + 60
    before = cpu_seconds(pid)
    while time.monotonic() < deadline:  # the fit has ended when no time is spent any more
        time.sleep(0.5)
        now = cpu_seconds(pid)
        if now - before < 0.05:
            return
        before = now
    raise AssertionError("the interrupted fit goes on")


@posix
def test_interrupt_of_a_notebook():
    pytest.importorskip("ipykernel")
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive(
            "import lossep\n"
            "from sklearn.datasets import make_classification\n"
            "X, y = make_classification(1500, 20, flip_y=0.2, random_state=1)\n"
            "long = lossep.LossepClassifier(kernel='rbf(ard) + matern32(ard)', method='vi', inducing='none', restarts=9)\n"
            "short = lossep.LossepClassifier(kernel='rbf(lengthscale=2, variance=1)', fixed=True, method='ep').fit(X[:50], y[:50])",
            timeout=120,
        )
        threading.Timer(2, manager.interrupt_kernel).start()
        stopped = client.execute_interactive("long.fit(X, y)", timeout=120, output_hook=lambda message: None)
        assert stopped["content"].get("ename") == "KeyboardInterrupt", stopped["content"]
        after = client.execute_interactive("assert short.predict(X[:3]).shape == (3,)", timeout=120)
        assert after["content"]["status"] == "ok", after["content"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def running(pid):
    """Whether there is such a process, and it is more than an entry for its parent."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@posix
def test_the_worker_ends_with_its_parent():
    program = (
        "import os, signal, numpy, lossep\n"
        "from lossep import _worker\n"
        "print(_worker.worker().pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    pid = int(out)
    for _ in range(100):
        if not running(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("the worker outlives its parent")


def test_forgotten_models_come_back(model, rows):
    X, _ = rows
    p = model.predict_proba(X)
    worker = _worker.worker()
    worker.ask(
        "decide",
        {"forget": [model.model_._place[1]], "utility": {"costs": "fn=1,fp=1"}, "outcomes": ["a", "b"]},
        [("p", np.array([[0.5, 0.5]]))],
    )
    assert (model.predict_proba(X) == p).all() and _worker.worker() is worker


def test_no_program(monkeypatch, model, rows):
    monkeypatch.setattr(_worker, "_current", None)
    monkeypatch.setenv("LOSSEP_BINARY", "/nowhere/lossep")
    with pytest.raises(FileNotFoundError):
        model.predict_proba(rows[0])
    monkeypatch.setenv("LOSSEP_BINARY", sys.executable)
    with pytest.raises(lossep.WorkerError, match="did not start"):
        model.predict_proba(rows[0])


def test_frames_survive():
    arrays = [("a", np.arange(6.0).reshape(2, 3)), ("b", np.array([1, -1, 7], dtype="<i4")), ("c", np.array([], dtype="u1"))]
    parts = b"".join(bytes(part) for part in _frames.encode({"id": 3}, arrays))
    at = 0

    def read(buffer):
        nonlocal at
        buffer[:] = parts[at : at + len(buffer)]
        at += len(buffer)

    header, tensors = _frames.decode(read)
    assert header == {"id": 3} and at == len(parts)
    for name, values in arrays:
        assert (tensors[name] == values).all() and tensors[name].shape == values.shape
    with pytest.raises(TypeError):
        _frames.encode({}, [("x", np.array([1j]))])
    at, parts = 0, b"HTTP" + parts[4:]
    with pytest.raises(_frames.FrameError):
        _frames.decode(read)


def test_progress(rows, monkeypatch):
    X, y = rows
    seen = []
    monkeypatch.setattr(lossep._classifier, "bar", lambda wanted: contextlib.nullcontext(seen.append))
    LossepClassifier(kernel="rbf", method="ep").fit(X, y)
    assert seen and all(frame["stage"] for frame in seen)
    monkeypatch.undo()
    pytest.importorskip("tqdm")
    with _progress.bar(True) as show:
        for frame in [*seen, {"stage": "folds", "step": 3, "steps": 4}]:
            show(frame)
    with _progress.bar(None) as show:
        assert show is None, "nobody watches a test"


def test_too_much_for_the_memory(monkeypatch, rows):
    X, y = rows
    monkeypatch.setenv("LOSSEP_MAX_MEMORY", "64M")
    small = _worker.Worker()
    monkeypatch.delenv("LOSSEP_MAX_MEMORY")
    try:
        monkeypatch.setattr(_worker, "_current", small)
        m = LossepClassifier(kernel="rbf", method="ep").fit(X, y)
        with pytest.raises(ValueError, match="LOSSEP_MAX_MEMORY"):
            m.predict_proba(np.tile(X, (10_000, 1)))
        assert m.predict_proba(X).shape == (len(X), 2) and _worker.worker() is small
    finally:
        small.end()


CROWD = """
import sys, threading
import numpy as np
import lossep
from lossep import LossepClassifier, _worker

rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 40))
y = X[:, 0] + rng.normal(size=1200) > 0
fixed = {"kernel": "rbf(lengthscale=5, variance=1)", "fixed": True, "method": "ep"}
model = LossepClassifier(**fixed).fit(X[:100], y[:100])
few = model.predict_proba(X)
rows = np.tile(X, (75, 1))  # 29 MB, and as much again as a table
wrong = []


def crowd(k):
    try:
        if not (model.predict_proba(rows) == np.tile(few, (75, 1))).all():
            wrong.append("other predictions")
        LossepClassifier(**fixed).fit(X, y)  # some 140 MB of matrices
        # A tensor that many columns are made of, and a table that is too large.
        for n, named in ((1000, 20_000), (3_000_000, 20)):
            columns = [{"name": str(j), "tensor": 0, "row": 0} for j in range(named)]
            try:
                _worker.worker().ask("fit", {"name": "X", "columns": columns}, [("numbers", np.ones((1, n)))])
                wrong.append(f"{named} columns were taken")
            except ValueError as error:
                if "memory" not in str(error):
                    wrong.append(str(error))
        if not (model.predict_proba(X[:50]) == few[:50]).all():
            wrong.append("other predictions of a few rows")
    except Exception as error:
        wrong.append(repr(error))


pid = _worker.worker().pid
threads = [threading.Thread(target=crowd, args=[k]) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if _worker.worker().pid != pid:
    wrong.append("the worker ended")
print(wrong[:3])
print(open(f"/proc/{pid}/status").read().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_a_crowd_has_one_memory():
    """Eight threads of large and hostile requests take no more than one may, and all are answered."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CROWD],
        env={**os.environ, "LOSSEP_MAX_MEMORY": "600M"},
        capture_output=True,
        text=True,
    )
    wrong, most = run.stdout.splitlines()
    assert wrong == "[]", run.stderr
    assert int(most) * 1024 < 600e6 + 100e6, "the limit, and 100 MB for the program itself"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
def test_a_thousand_fits_do_not_grow():
    X, y = make_classification(40, 4, random_state=0)
    pid = _worker.worker().pid

    def megabytes(pid):
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    sizes = []
    for k in range(1000):
        LossepClassifier(kernel="rbf(lengthscale=2, variance=1)", fixed=True, method="ep").fit(X, y)
        if k in (250, 999):
            gc.collect()
            sizes.append((megabytes(pid), megabytes(os.getpid())))
    assert pid == _worker.worker().pid
    for before, after in zip(*sizes, strict=True):
        assert after < before + 15, sizes  # garbage that is not yet collected, of either runtime
