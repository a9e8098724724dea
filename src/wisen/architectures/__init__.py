"""Ways to drive a model through a task: start with reflexion.py."""
