"""Use cases: load, decide, save, hand effects over; and what is read."""
