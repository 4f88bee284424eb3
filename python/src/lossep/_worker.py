"""The process that does the work: one for each Python process, started when first needed.

A thread reads its answers, so that any number of threads can wait for theirs and an
interrupt of one of them loses nothing. A process that was forked has no such thread and
shares no pipes with its parent: it starts a worker of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lossep import _frames
from lossep._binary import binary
from lossep._errors import LossepError, WorkerError
from lossep._frames import Array

Progress = Callable[[dict[str, Any]], None]


class Forgotten(Exception):
    """The worker does not have the model; it is to be loaded again."""


class _Busy(Exception):
    """There is no memory for the request while others are under way."""


class Reply(NamedTuple):
    """The answer to a request."""

    result: dict[str, Any]
    tensors: dict[str, Array]


class Worker:
    """A running process of the program."""

    def __init__(self) -> None:
        environment = dict(os.environ)
        threads = environment.get("LOSSEP_THREADS") or environment.get("OMP_NUM_THREADS")
        if threads and "GOMAXPROCS" not in environment:
            environment["GOMAXPROCS"] = threads.split(",")[0]
        arguments = [binary(), "worker"]
        memory = environment.get("LOSSEP_MAX_MEMORY")
        if memory:
            arguments += ["--max-memory", memory]
        # Ctrl-C reaches a whole group of processes; this one receives what to cancel instead.
        apart: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, bufsize=0, **apart
        )
        self._writing = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[Any]] = {}
        self._last = 0
        self._state = threading.Condition()  # of the three above and those below
        self._ended_requests = 0  # those that took memory
        self._ended: str | None = None
        self._said: deque[bytes] = deque(maxlen=50)
        self.forgotten: deque[int] = deque()  # handles that nobody needs any more
        try:
            hello, _ = _frames.decode(self._fill)
        except (EOFError, OSError, _frames.FrameError, ValueError) as error:
            self.kill()
            said = (self._process.stderr.read() if self._process.stderr else b"").decode(errors="replace").strip()
            raise WorkerError(f"{arguments[0]} did not start as a worker: {said or error}") from error
        if hello.get("protocol") != _frames.PROTOCOL:
            self.kill()
            raise WorkerError(
                f"{arguments[0]} speaks version {hello.get('protocol')} of the protocol and this package version "
                f"{_frames.PROTOCOL}; install the two from one wheel"
            )
        self.version = str(hello.get("version"))
        self._threads = [threading.Thread(target=work, name="lossep", daemon=True) for work in (self._listen, self._hear)]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._ended is None and self._process.poll() is None

    def _fill(self, buffer: memoryview) -> None:
        assert self._process.stdout is not None
        while buffer:
            n = self._process.stdout.readinto(buffer)  # type: ignore[attr-defined]
            if not n:
                raise EOFError
            buffer = buffer[n:]

    def _hear(self) -> None:
        """Takes what the worker says on its standard error: why it ended, if it says so."""
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError), self._process.stderr:
            for line in self._process.stderr:
                self._said.append(line)

    def _listen(self) -> None:
        """Hands every answer to whoever waits for it."""
        why = "it ended"
        try:
            while True:
                header, tensors = _frames.decode(self._fill)
                waiting = self._waiting.get(header.get("id", 0))
                if waiting is not None:
                    waiting.put((header, tensors))
                elif header.get("id", 0) == 0 and "error" in header:
                    why = header["error"]["text"]
        except (OSError, ValueError, KeyError, EOFError, _frames.FrameError) as error:
            if not isinstance(error, EOFError):
                why = f"its answer cannot be read: {error}"
        with self._state:
            self._ended = why
            waiting_now = list(self._waiting.values())
        self.kill()
        for q in waiting_now:
            q.put(None)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _send(self, header: dict[str, Any], tensors: Sequence[tuple[str, Array]] = ()) -> None:
        parts = _frames.encode(header, tensors)
        assert self._process.stdin is not None
        with self._writing:
            try:
                for part in parts:
                    view = memoryview(part)
                    while view:
                        view = view[self._process.stdin.write(view) :]
            except (OSError, ValueError) as error:
                raise self._gone() from error
            except BaseException:
                # Part of a frame was written, and where the next begins is not known.
                self.kill()
                raise

    def _gone(self) -> WorkerError:
        code = self._process.poll()
        why = self._ended or "it ended"
        if code is not None and code < 0:
            why = f"it was ended by signal {-code}"
        elif code:
            why = f"{why} with exit code {code}"
        said = b"".join(self._said).decode(errors="replace").strip()
        return WorkerError(f"the lossep worker is gone ({why}); the next call starts another{': ' + said if said else ''}")

    def ask(
        self, do: str, header: dict[str, Any], tensors: Sequence[tuple[str, Array]] = (), progress: Progress | None = None
    ) -> Reply:
        """Sends a request and waits for its answer. An interrupt cancels it. One for which there
        is no memory beside others is sent again when one of them has ended."""
        pause = 0.02  # memory is given back a little after the answer
        while True:
            before = self._ended_requests
            try:
                return self._ask(do, header, tensors, progress)
            except _Busy:
                with self._state:
                    if self._ended_requests == before:
                        self._state.wait(pause)
                pause = min(2 * pause, 2)

    def _ask(self, do: str, header: dict[str, Any], tensors: Sequence[tuple[str, Array]], progress: Progress | None) -> Reply:
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        with self._state:
            if self._ended is not None:
                raise self._gone()
            self._last += 1
            number = self._last
            self._waiting[number] = answers
        forget: list[int] = []
        while self.forgotten:
            with contextlib.suppress(IndexError):
                forget.append(self.forgotten.popleft())
        try:
            self._send({"id": number, "do": do, **header, **({"forget": forget} if forget else {})}, tensors)
            while True:
                answer = self._next(answers)
                if answer is None:
                    raise self._gone()
                head, arrays = answer
                if "progress" in head:
                    if progress is not None:
                        progress(head["progress"])
                    continue
                break
        except BaseException as error:
            if not isinstance(error, WorkerError):
                with contextlib.suppress(WorkerError):
                    self._send({"cancel": number})
            raise
        finally:
            with self._state:
                del self._waiting[number]
        refused = _exception(head["error"]) if "error" in head else None
        if not isinstance(refused, _Busy):
            with self._state:
                self._ended_requests += 1
                self._state.notify_all()
        if refused is not None:
            raise refused
        return Reply(head.get("result") or {}, arrays)

    @staticmethod
    def _next(answers: queue.SimpleQueue[Any]) -> Any:
        if os.name != "nt":
            return answers.get()
        while True:  # a wait without an end cannot be interrupted there
            with contextlib.suppress(queue.Empty):
                return answers.get(timeout=0.1)

    def kill(self) -> None:
        """Ends the process, if it has not ended."""
        with contextlib.suppress(OSError):
            self._process.kill()
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    def end(self) -> None:
        """Ends the process for good: nothing of it is left behind."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self.kill()
        for thread in self._threads:
            thread.join(timeout=1)

    def abandon(self) -> None:
        """Leaves the process to another: for a child of the one that started it."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.returncode = 0  # nobody here waits for it


def _exception(error: dict[str, Any]) -> Exception:
    kind, text = error["kind"], error["text"]
    if kind == "input":
        if "memory" in text and "LOSSEP_MAX_MEMORY" not in os.environ:
            text += " (the environment variable LOSSEP_MAX_MEMORY, such as 8G, before the first call)"
        return ValueError(text)
    if kind == "busy":
        return _Busy(text)
    if kind == "forgotten":
        return Forgotten(text)
    if kind in ("internal", "protocol"):
        stack = error.get("stack")
        return WorkerError(f"{text}\n\n{stack}" if stack else text)
    return LossepError(text)


_lock = threading.Lock()
_current: Worker | None = None


def worker() -> Worker:
    """The worker of this process; another one if it has ended."""
    global _current
    with _lock:
        if _current is None or not _current.alive:
            _current = Worker()
        return _current


def _after_fork() -> None:
    """In a child of this process: the worker is the parent's."""
    global _current, _lock
    _lock = threading.Lock()
    if _current is not None:
        _current.abandon()
    _current = None


@atexit.register
def _end() -> None:
    if _current is not None:
        _current.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
