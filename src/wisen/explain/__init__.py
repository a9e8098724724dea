"""What is known of cards and runs, for people: the same on the command line and on the page."""
