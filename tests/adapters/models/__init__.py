"""A fake provider on localhost that speaks the real wire protocols: Messages, Chat Completions and Responses.

The fixture `provider` runs in the event loop of the test. `provider_in_thread` is for tests that start servers.
`replies` describes responses independent of the protocol.
"""
