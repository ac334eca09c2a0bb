"""Many hosts: a list is read, each host scanned once, every result written to the index as it comes."""
