"""The catalogue of action types, as admins see and change it."""
