"""The operations of the API, one module per noun."""
