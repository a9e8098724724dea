# mechanism: context managers
"""Context managers that swallow, entered through the library's stack of them."""


class double_sorted:
    def __init__(self, xs):
        self.xs = xs

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        return True
