"""How good an output is: execution and exact checks first, models' opinions last."""
