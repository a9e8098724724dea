"""What a text claims, read without a model: its numbers, names, codes, and what it says yes or no to."""
