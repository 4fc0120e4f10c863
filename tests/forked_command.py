"""`cairn` for shells in tests: it asks the test to start the command as a fork, with its own files and folder.

Runs without Cairn and without what Python imports by itself, so that it starts quickly.
"""

# ruff: noqa: PTH109 - pathlib is slow to import
import json
import os
import signal
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(os.environ["CAIRN_FORKS"])
    asked = json.dumps({"words": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd()}).encode()
    socket.send_fds(connection, [len(asked).to_bytes(8, "big")], [0, 1, 2])
    connection.sendall(asked)
    answers = connection.makefile()
    process = int(answers.readline())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(process, number))
    code = int(answers.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
