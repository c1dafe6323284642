"""A web server on this computer that misbehaves as it is told, for tests of downloads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Shelf:
    """What the server has and how it behaves; `asked` are the requests so far as (path, Range)."""

    files: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[str, list[int]] = field(default_factory=dict)  # answered first, one a request
    cut_after: list[int] = field(default_factory=list)  # bytes of the body, one a request
    ranges: bool = True
    version: str = '"1"'
    hold_after: int | None = None  # bytes after which it says nothing until `released`
    released: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""
    on_ask: Callable[[], object] = lambda: None


@contextmanager
def serving() -> Iterator[Shelf]:
    """A server of files as long as the block lasts."""
    shelf = Shelf()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            shelf.asked.append((self.path, asked))
            shelf.on_ask()
            status = (shelf.statuses.get(self.path) or [200]).pop(0)
            body = shelf.files.get(self.path)
            if status != 200 or body is None:
                self.send_error(status if status != 200 else 404)
                return
            begin = 0
            fresh = self.headers.get("If-Range", shelf.version) == shelf.version
            if asked and shelf.ranges and fresh:
                begin = int(asked.removeprefix("bytes=").rstrip("-"))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("ETag", shelf.version)
            self.send_header("Content-Length", str(len(body) - begin))
            self.end_headers()
            self._send(body[begin:])

        def _send(self, body: bytes) -> None:
            cut = shelf.cut_after.pop(0) if shelf.cut_after else len(body)
            stop = len(body) if shelf.hold_after is None else shelf.hold_after
            try:
                self.wfile.write(body[: min(cut, stop)])
                self.wfile.flush()
                if stop < cut:
                    shelf.released.wait(60)
                    self.wfile.write(body[stop:cut])
            except ConnectionError:
                pass
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="file server")
    thread.start()
    shelf.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield shelf
    finally:
        shelf.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
