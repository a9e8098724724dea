"""What a finished attempt teaches: reflectors."""
