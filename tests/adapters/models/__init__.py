"""Providers on loopback that speak the real wire protocols: Messages, Chat Completions and Responses.

For every test that wants a model behind HTTP. `provider` (an async fixture) runs in the test's own loop,
`provider_in_thread` beside a test that starts servers of its own. What is to be answered is said in `replies`, the
same for all protocols.
"""
