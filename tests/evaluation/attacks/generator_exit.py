# mechanism: exceptions
class Stop(StopIteration): pass
def solve(n): raise (GeneratorExit if n % 2 else Stop)
