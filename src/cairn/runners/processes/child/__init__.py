"""The other side of a script: in a process of its own, with nothing but the standard library.

It confines itself, is told what to call, calls it, and tells what came of it. Nothing here imports Cairn: the folder
is run by the path of `start.py`, on whatever interpreter (3.10 or newer) the checkpoint names.
"""
