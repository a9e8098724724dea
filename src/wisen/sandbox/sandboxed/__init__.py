"""Programs around code that nobody vouches for, each in a process of its own; they import nothing but each other."""
