"""Code that runs apart from this process: untrusted programs, and functions that may hang."""
