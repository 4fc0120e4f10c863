"""A model of the gate: the functions of the core on a ledger in memory, and an oracle that judges what was sent."""
