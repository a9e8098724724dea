"""What may enter memory and prompts: redaction, the immune scan, and the screens made of them."""
