"""The HTTP face: REST, streams and the web app's files."""
