"""The pure heart of Cairn: what a run is, and what each command does to it. Standard library only."""
