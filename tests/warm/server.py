"""Pythons that have torch already: a process that imported it forks one for each that is asked for.

`python server.py SOCKET` warms up, listens, and ends with the process that holds its standard input. What a
caller sends is a JSON object of words, folder and environment, with its three standard streams; what it gets
back is the status as `subprocess` tells it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import warnings
from typing import Any, NoReturn

OURS = ("engine", "nodes", "app", "tests")
REQUEST = 1 << 20


def warm_up() -> None:
    """Imports what most scripts import, and what torch itself imports at the first step of an optimiser."""
    import torch
    import torch.distributed.run

    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.zeros(2)
    torch.optim.Adam([weight]).step()
    torch.optim.SGD([weight], lr=0.1).step()
    import nodes  # noqa: F401

    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise RuntimeError(f"{threads} threads would be lost in forks")
    gc.collect()
    gc.freeze()


class Server:
    def __init__(self, path: str) -> None:
        self.watching = selectors.DefaultSelector()
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(path)
        self.listening.listen(64)
        self.watching.register(self.listening, selectors.EVENT_READ, "asked")
        self.watching.register(0, selectors.EVENT_READ, "alone")
        self.children: dict[int, tuple[int, socket.socket]] = {}  # by pidfd: process and caller

    def next_job(self) -> dict[str, Any]:
        """Serves for ever; returns in each child, with what it has to do."""
        while True:
            for key, _ in self.watching.select():
                if key.data == "alone":
                    for process, _caller in self.children.values():
                        os.kill(process, signal.SIGKILL)
                    os._exit(0)
                elif key.data == "asked":
                    job = self._begin(self.listening.accept()[0])
                    if job is not None:
                        return job
                elif key.data == "ended":
                    self._end(key.fd)
                elif key.fd in self._callers():  # a signal to hand on, or a caller that was killed
                    self._hand_on(key.fd)

    def _callers(self) -> dict[int, int]:
        return {caller.fileno(): ended for ended, (_, caller) in self.children.items()}

    def _begin(self, caller: socket.socket) -> dict[str, Any] | None:
        said, streams, _, _ = socket.recv_fds(caller, REQUEST, 3)
        more = said
        while more and not said.endswith(b"\n"):
            more = caller.recv(REQUEST)
            said += more
        if not more:  # it was killed before it had asked
            caller.close()
            for stream in streams:
                os.close(stream)
            return None
        job: dict[str, Any] = json.loads(said)
        process = os.fork()
        if not process:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            caller.close()
            self.listening.close()
            self.watching.close()
            for ended, (_, other) in self.children.items():
                os.close(ended)
                other.close()
            return job
        for stream in streams:
            os.close(stream)
        ended = os.pidfd_open(process)
        self.children[ended] = (process, caller)
        self.watching.register(ended, selectors.EVENT_READ, "ended")
        self.watching.register(caller, selectors.EVENT_READ, "caller")
        return None

    def _end(self, ended: int) -> None:
        process, caller = self.children.pop(ended)
        self.watching.unregister(ended)
        with contextlib.suppress(KeyError):  # a caller that is gone is no longer listened to
            self.watching.unregister(caller)
        os.close(ended)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(OSError):  # it was killed meanwhile
            caller.sendall(f"{status}\n".encode())
        caller.close()

    def _hand_on(self, fd: int) -> None:
        ended = self._callers()[fd]
        caller = self.children[ended][1]
        said = caller.recv(64)
        if not said:
            self.watching.unregister(caller)
        for number in said.split() or [b"9"]:
            signal.pidfd_send_signal(ended, int(number))


def become(job: dict[str, Any]) -> list[str]:
    """Puts this process into the state in which Python would begin; returns the words after its options."""
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    words = list(job["words"])
    while words and words[0] in ("-W", "-u", "-B"):
        option = words.pop(0)
        unbuffered = unbuffered or option == "-u"
        if option == "-W":
            warnings.simplefilter(words.pop(0))
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(
        io.BufferedReader(io.FileIO(0, closefd=False)), encoding=encoding
    )
    for number, name in ((1, "stdout"), (2, "stderr")):
        raw = io.FileIO(number, "wb", closefd=False)
        text = io.TextIOWrapper(
            raw if unbuffered else io.BufferedWriter(raw),
            encoding=encoding,
            errors="backslashreplace" if number == 2 else None,
            write_through=unbuffered,
            line_buffering=number == 2,
        )
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)
    sys.executable = job["executable"]
    sys.path[:] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *CLEAN]
    import numpy
    import torch

    numpy.random.seed()
    torch.seed()
    threads = os.environ.get("OMP_NUM_THREADS")
    torch.set_num_threads(int(threads) if threads else os.cpu_count() or 1)
    return words


def forget_ourselves() -> None:
    """What is run finds nothing of the program that a fresh Python would not."""
    for name in list(sys.modules):
        if name.split(".")[0] in OURS:
            del sys.modules[name]


def do(words: list[str]) -> None:
    """What `python WORDS` does."""
    first, *rest = words
    if not (first == "-m" and rest[0].startswith("engine.")) and ROOT not in sys.path:
        forget_ourselves()
    if first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        module = type(sys)("__main__")
        sys.modules["__main__"] = module
        exec(compile(rest[0], "<string>", "exec"), module.__dict__)
    elif first == "-m":
        sys.argv = [rest[0], *rest[1:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *rest]
        sys.path.insert(0, os.path.dirname(os.path.realpath(first)))
        runpy.run_path(first, run_name="__main__")


def end(status: int) -> NoReturn:
    """What an interpreter does at its end, but for taking all modules apart, which takes longest."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def main() -> None:
    warm_up()
    server = Server(sys.argv[1])
    print("ready", flush=True)
    words = become(server.next_job())
    try:
        do(words)
    except SystemExit as asked:
        if not isinstance(asked.code, int | None):
            print(asked.code, file=sys.stderr)
            end(1)
        end(asked.code or 0)
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        end(1)
    end(0)


HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CLEAN = [place for place in sys.path if place not in (HERE, ROOT, "")]

if __name__ == "__main__":
    sys.path[:] = [ROOT, *CLEAN]
    main()
