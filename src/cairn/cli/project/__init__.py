"""The files of the project that `cairn init` creates."""
