"""Reflexion: attempt, evaluate, learn, try again. Read `loop` first.

`learner` is what memory does around an attempt: `recalling` before it, `writing` after it. `attempt_cards` has the
forms of cards on their way in and out. `resuming` keeps a resumed run from doing things twice. `options` has the finer
choices.
"""
