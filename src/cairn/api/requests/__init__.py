"""Bodies of requests, by noun. Unknown fields and wrong types are refused."""
