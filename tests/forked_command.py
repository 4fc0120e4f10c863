"""The `cairn` command of shells in tests. It asks the test to start the command as a fork, with its files and folder.

It imports neither Cairn nor site packages, so that it starts quickly.
"""

# ruff: noqa: PTH109 - pathlib is slow to import
import json
import os
import signal
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(os.environ["CAIRN_FORKS"])
    request = json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd()}).encode()
    socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
    connection.sendall(request)
    replies = connection.makefile()
    process = int(replies.readline())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(process, number))
    code = int(replies.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
