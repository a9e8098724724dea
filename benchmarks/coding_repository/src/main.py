"""What linters and formatters are asked about."""

print(1)
