"""The HTTP API, live streams and the web app's files."""
