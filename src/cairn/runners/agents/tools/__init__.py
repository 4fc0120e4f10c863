"""What agents may use, one module each."""
