"""The contract: what a record is, what it may hold, and how it is written and read. No I/O but package data."""
