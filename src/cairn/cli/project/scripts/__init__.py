"""Scripts of the project that `cairn init` writes."""
