"""Where cards, runs and recorded calls are kept."""
