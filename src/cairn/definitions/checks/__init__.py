"""What a definition has to hold (P3), by topic. Each check reads a full form that may be ill formed elsewhere."""
