"""What a web server answers, read by a thread, so that a silent server can be left at any moment.

A read from a socket cannot be called off from outside. The thread only fills a short queue; whoever leaves
forgets it, and it ends with its next read, after `TIMEOUT` at the latest.
"""

from __future__ import annotations

import queue
import re
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException, HTTPMessage
from types import TracebackType

TIMEOUT = 20.0  # seconds without a byte
CHUNK = 1 << 16
AGENT = "Neuroloom (+urllib)"
TRY_AGAIN = (408, 425, 429)  # and whatever is wrong with the server itself
RANGE_ANSWER = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class Lost(Exception):
    """The server cannot be reached, or the connection ended: another try may help. Says why."""


class Useless(Exception):
    """The server does not have the file. Says why."""


class Answer:
    """The answer to one GET: open it with `with`, then read `chunks`.

    `begins_at` is the first byte that it sends, `size` that of the whole file (None: not said), `version` the
    server's mark of it. `waiting` is called about every `patience` seconds, and may raise to leave.
    Errors: `Lost`, `Useless`.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], patience: float, waiting: Callable[[], None]
    ) -> None:
        request = urllib.request.Request(url, headers={"User-Agent": AGENT, **headers})
        self._patience, self._waiting = patience, waiting
        self._queue: queue.Queue[tuple[int, HTTPMessage] | bytes | Exception] = queue.Queue(16)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(request,), name="download", daemon=True)
        self.begins_at = 0
        self.size: int | None = None
        self.version = ""

    def __enter__(self) -> Answer:
        self._thread.start()
        try:
            head = self._next()
        except BaseException:
            self._left.set()
            raise
        if isinstance(head, tuple):
            self._take(*head)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()

    def chunks(self) -> Iterator[bytes]:
        """What the server sends, up to where the connection ends."""
        while isinstance(chunk := self._next(), bytes) and chunk:
            yield chunk

    def _take(self, status: int, headers: HTTPMessage) -> None:
        length = headers.get("Content-Length", "")
        self.size = int(length) if length.isdigit() else None
        if status == 206:
            found = RANGE_ANSWER.fullmatch(headers.get("Content-Range", "").strip())
            self.begins_at = int(found[1]) if found else -1
            self.size = int(found[2]) if found and found[2] != "*" else None
        tag = headers.get("ETag", "")
        self.version = tag if tag.startswith('"') else headers.get("Last-Modified", "")

    def _next(self) -> tuple[int, HTTPMessage] | bytes:
        while True:
            try:
                found = self._queue.get(timeout=self._patience)
            except queue.Empty:
                self._waiting()
                continue
            if isinstance(found, Exception):
                raise _explained(found) from found
            return found

    def _read(self, request: urllib.request.Request) -> None:
        """In the thread: the head, chunks, then b"" for the end; or what went wrong."""
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                self._put((answer.status, answer.headers))
                while chunk := answer.read1(CHUNK):
                    if not self._put(chunk):
                        return
            self._put(b"")
        except urllib.error.HTTPError as error:
            error.close()
            self._put(error)
        except (OSError, HTTPException, ValueError) as error:
            self._put(error)

    def _put(self, found: tuple[int, HTTPMessage] | bytes | Exception) -> bool:
        while not self._left.is_set():
            try:
                self._queue.put(found, timeout=self._patience)
                return True
            except queue.Full:
                continue
        return False


def _explained(error: Exception) -> Lost | Useless:
    if isinstance(error, urllib.error.HTTPError):
        text = f"answered {error.code} ({error.reason})"
        return Lost(text) if error.code in TRY_AGAIN or error.code >= 500 else Useless(text)
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, socket.gaierror):
        return Lost("not found, this computer may be offline")
    if isinstance(reason, TimeoutError):
        return Lost(f"silent for {TIMEOUT:.0f} seconds")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return Useless(f"its certificate is not trusted ({reason.verify_message})")
    if isinstance(reason, ConnectionRefusedError):
        return Lost("refused the connection")
    if isinstance(reason, (ConnectionError, HTTPException)):
        return Lost("ended the connection too early")
    return Lost(f"cannot be read ({reason})")
