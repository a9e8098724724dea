"""The tables and passes that detectors are made of: forms of secrets and numbers, words and shapes of attacks."""
