"""Actions that agents and scripts propose, and the corrections that people make to them."""
