"""The only way for a card into other runs' prompts."""
