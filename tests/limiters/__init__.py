"""Limits on requests that sites put before everybody, as models of time and as real servers on loopback."""
