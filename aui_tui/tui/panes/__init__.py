"""What a report card says, as lines: pure functions from a dossier and a width."""
