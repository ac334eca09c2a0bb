"""Many scans against broken servers: what is left afterwards."""
