"""Families of tasks on which learning can be measured: each has a hidden rule, and a train and a test half that share no item."""
