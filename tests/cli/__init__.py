"""Tests of the command line, with a real server and without one."""
