"""The ledger of actions: rows of actions, votes and refusals, generations, limits and the state of the gate."""
