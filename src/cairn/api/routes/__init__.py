"""The operations of the API, by noun."""
