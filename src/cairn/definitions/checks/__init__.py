"""What a definition has to hold, by topic. Each check reads a full form that may be ill formed elsewhere."""
