"""The command line: wires settings to a service, prints, and turns errors into exit codes."""
