"""The one reader of what models reply: finds the answer in a reply, and in the answer the score, lesson or remarks."""
