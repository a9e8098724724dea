"""The small front door: memory for a loop of your own.

`front` needs no event loop; `asynchronous` is what it is made of. `open_attempt` is one try at a task, as your code
sees it; `told` is what your code says about it.
"""
