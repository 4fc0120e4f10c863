"""Scripts of the project that `cairn init` creates."""
