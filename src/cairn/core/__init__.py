"""The run aggregate and its commands, as pure functions on frozen values. Imports the standard library only.

In this package `d` is the draft of a decision, `e` an execution, `a` an approval and `c` a command.
"""
