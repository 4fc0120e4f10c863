"""The code that runs inside the process of a script, using the standard library only.

It confines itself, receives the call, makes it, and sends back the result. It can't import Cairn: the server starts
`start.py` by its path, on whatever interpreter (3.10 or newer) the checkpoint names.
"""
