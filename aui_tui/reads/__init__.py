"""What readers of text get from a page: pure functions of its bytes, run in the process that reads hostile pages."""
