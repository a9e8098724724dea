"""Does memory help? Experiments with controls."""
