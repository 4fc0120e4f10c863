"""What agents may use (A3), one module each."""
