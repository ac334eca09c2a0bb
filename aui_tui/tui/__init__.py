"""The dashboard. It knows the records and the service protocol, and is the only package that imports Textual."""
