"""Stands in the place of Python: hands words and streams to the warm server, and ends as its child does."""

import json
import os
import signal
import socket
import sys


def main() -> None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "asked"))
    job = {
        "words": sys.argv[1:],
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "executable": os.path.abspath(__file__),
    }
    said = json.dumps(job).encode() + b"\n"
    socket.send_fds(server, [said], [0, 1, 2])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _: server.sendall(b"%d " % got))
    status = int(server.makefile().readline() or -9)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
