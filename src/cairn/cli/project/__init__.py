"""The project that `cairn init` writes, file by file."""
