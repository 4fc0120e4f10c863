"""The command line, against a real server and against a folder that it opens itself."""
