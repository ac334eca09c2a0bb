"""Random input for what reads untrusted bytes; ``--hypothesis-profile=long`` tries more."""
