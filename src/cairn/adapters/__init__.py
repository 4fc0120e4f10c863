"""One file per outside thing; only `bootstrap` chooses."""
