"""Broken and hostile web servers on loopback, and a laboratory that scans them through the real engine."""
