"""Request bodies. Unknown fields and wrong types are rejected."""
