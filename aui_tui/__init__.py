"""How usable is a website by the AI agents that act live for a person."""

__version__ = "0.1.0"
