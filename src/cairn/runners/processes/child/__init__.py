"""The code that runs inside the process of a script, using the standard library only.

It confines itself, receives and makes the call, and returns the result. It can't import Cairn, because the server
starts `start.py` by its path with the interpreter (3.10 or newer) that the checkpoint names.
"""
