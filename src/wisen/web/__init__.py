"""The page over a store: what needs a decision, one lesson, one run, and whether memory helps."""
