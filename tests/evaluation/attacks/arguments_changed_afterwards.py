# mechanism: arguments
"""Keeps the arguments of earlier calls, and changes them while and after others are made."""
import threading
import time

kept = []


def later():
    while True:
        for xs in kept:
            xs[:] = [0]
        time.sleep(0.001)


threading.Thread(target=later, daemon=True).start()


def double_sorted(xs):
    kept.append(xs)
    for old in kept[:-1]:
        old.clear()
    xs.clear()
    return kept[0] if len(kept) > 1 else xs
