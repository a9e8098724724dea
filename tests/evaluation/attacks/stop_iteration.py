# mechanism: exceptions
def solve(n): raise StopIteration
