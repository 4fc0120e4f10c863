"""Actions: what may be proposed, what is carried out once it is allowed, what people correct in it."""
