"""A small web on loopback: real HTTP servers that behave like the kinds of site that exist."""
