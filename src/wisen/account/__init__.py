"""The account of an attempt: what it was shown, what it did, and what it came to. Nothing else draws or counts."""
