"""Programs that run in processes of their own around code that nobody vouches for; they import nothing but each other."""
