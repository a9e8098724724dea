"""What users and other backends test with: the store contract and its model test."""
