"""Access logs: reading them, counting the visits of agents, and comparing addresses with published ranges."""
