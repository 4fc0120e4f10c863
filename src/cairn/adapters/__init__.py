"""Implementations of the ports, one module or package per outside system. Only `bootstrap` chooses them."""
