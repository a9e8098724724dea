"""Retroformer: whole runs, turned into typed cards. Read `retroformer` first.

`retrospection` has a model look back in as many parts as its context asks for, `prompt` is what it is asked, and
`typed_cards` what is made of the answers. `repairs` makes lessons without a model; `shell_words` reads commands.
"""
