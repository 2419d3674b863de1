# SPDX-License-Identifier: Apache-2.0
"""The right answers, independent of any runtime."""

from collections.abc import Iterator
from itertools import count, islice
from math import floor

from .catalogue import WORKLOADS

QUEENS = (1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512)
RING = 503  # actors
PARTS = {
    "parallel-thread-ring": RING,
    "mixed-scenario": 20,
    "fan-in": 20,
    "ring-work": 64,
}  # sizes are rounded up
UTS_NODES = {  # all but TT: published with UTS
    "T1": 4130071,
    "T3": 4112897,
    "T1L": 102181082,
    "T3L": 111345631,
    "TT": 3987,
}

NUMBERS_BELOW_SIZE = {  # their sum
    "skynet-channel",
    "skynet-rendezvous",
    "skynet-receive",
    "channel-rendezvous",
    "channel-buffered",
    "select-two",
    "mpmc",
    "mpmc-unbuffered",
    "mpmc-4",
    "mpmc-4-unbuffered",
    "fiber-create-block",
    "pool-0",
    "pool-200ns",
    "pool-1us",
    "pool-5us",
}


# Of the Savina suite
EACH = {
    "savina-throughput": 60,
    "savina-chameneos": 2,
    "savina-big": 120,
    "savina-dictionary": 20,
    "savina-buffer": 40,
    "savina-philosophers": 20,
}  # so many times the size
PATHS = {"100": 74952, "200": 201200, "300": 401700}  # 300: as the suite's own program finds
TRAPEZOID = 271081  # a million times the integral
PERIOD = 1 << 16  # of the suite's random numbers, which all occur in it


def _savina_random(seed: int) -> Iterator[int]:
    while True:
        seed = (seed * 1309 + 13849) % PERIOD
        yield seed


def _sum_of_random(seed: int, count: int) -> int:
    rounds, rest = divmod(count, PERIOD)
    return rounds * (PERIOD * (PERIOD - 1) // 2) + sum(islice(_savina_random(seed), rest))


def _length_of_list(questions: int) -> int:
    length = 0
    for worker in range(20):
        numbers = _savina_random(worker + questions + 11)
        for _ in range(questions):
            drawn = next(numbers) % 100
            if drawn >= 1:  # else a question for the length
                next(numbers)
                length += drawn < 11
    return length


def _logistic(terms: int) -> int:
    total = 0.0
    for series in range(10):
        rate, x = 3.46 + 0.0025 * series, 0.0025 * series
        for _ in range(terms):
            x = rate * x * (1 - x)
        total += x
    return round(total * 1e9)


def _primes_below(end: int) -> int:
    is_prime = bytearray([1]) * end
    is_prime[:2] = b"\0\0"
    for i in range(2, int(end**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = bytes(len(range(i * i, end, i)))
    return sum(is_prime)


def _fib(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def _knapsack(number: int) -> int:
    """The best value, by dynamic programming over the room. The items are those of
    workloads/cilk/knapsack.hpp.
    """
    state, drawn = 1, []
    for _ in range(2 * number):
        state = (state * 1664525 + 1013904223) % 2**32
        drawn.append(100 + state // 2**16 % 900)
    items = list(zip(drawn[1::2], drawn[0::2], strict=True))  # value, weight
    best = [0] * (sum(weight for _, weight in items) // 2 + 1)
    for value, weight in items:
        for room in range(len(best) - 1, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[-1]


def _decimals_of_pi(decimals: int) -> int:
    """The formula of Machin: pi / 4 = 4 arctan(1/5) - arctan(1/239)."""
    one = 10 ** (decimals + 20)

    def arctan_of_inverse(x: int) -> int:
        power, total = one // x, 0
        for i in count(1, 4):
            if power == 0:
                return total
            total += power // i - power // (x * x) // (i + 2)
            power //= x**4
        raise AssertionError("power becomes 0")

    pi = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    return pi // 10**20 % 1_000_000_007


def _over_relaxation(n: int) -> int:
    numbers = _savina_random(n)
    grid = [[0.0] * (n + 2) for _ in range(n + 2)]  # with a border of zeros
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            grid[i][j] = float(next(numbers))
    total = 0
    for step in range(200):
        for i in range(1, n + 1):
            for j in range(1 + (i + step) % 2, n + 1, 2):
                around = grid[i][j - 1] + grid[i][j + 1] + grid[i - 1][j] + grid[i + 1][j]
                grid[i][j] = 1.25 / 4 * around + (1 - 1.25) * grid[i][j]
                total += floor(grid[i][j] + 0.5)
    return total


def _unbalanced_tree(size: int) -> int:
    work = {rounds: sum(islice(_savina_random(rounds), rounds)) for rounds in range(400, 601)}
    total = 0
    left = [(1, size)]
    while left:
        seed, rest = left.pop()
        total += work[400 + (seed >> 33) % 201]
        rest -= 1
        children = min(rest, 10)
        for i in range(children):
            child = (seed + i + 1) % (1 << 64)
            child = (child ^ child >> 33) * 6364136223846793005 + 1442695040888963407
            child %= 1 << 64
            taken = 1 + (child >> 33) % (rest - (children - i) + 1)
            if i == children - 1:
                taken = rest
            left.append((child, taken))
            rest -= taken
    return total


def _filtered(coefficients: list[int], values: list[int]) -> Iterator[int]:
    """The scalar products of the coefficients and as many of the newest values, which lie in a
    ring. Each product follows from the one before it.
    """
    size = len(coefficients)
    ring, total = [0] * size, 0
    for k, value in enumerate(values):
        total += (value - ring[k % size]) * coefficients[size - 1 - k % size]
        ring[k % size] = value
        if k >= size - 1:
            yield total


def _filter_bank(n: int) -> int:
    columns, answer = 1024, 0
    delayed = [0] * (columns - 1) + [k % 1000 for k in range(n)]
    for c in range(8):
        first = [(i * c + 2 * i + c) % 16 + 1 for i in range(columns)]
        second = [(i * c + c * c + i + c) % 16 + 1 for i in range(columns)]
        inner = _filtered(first, delayed[:n])
        sampled = [value if k % columns == 0 else 0 for k, value in enumerate(inner)]
        outputs = _filtered(second, ([0] * (columns - 1) + sampled)[: len(sampled)])
        answer += sum(value * (k % 7 + 1) for k, value in enumerate(outputs))
    return answer


def _reached(n: int) -> int:
    """The number of nodes of a grid that a search from its corner reaches."""
    numbers, edges = _savina_random(n), []
    for node in range(n**3):
        at = node // (n * n), node // n % n, node % n
        mine: list[int] = []
        for corner in range(1, 7):
            drawn = next(numbers) >> 8 & 1
            if drawn or corner == 6 and not mine:
                other = 0
                for axis in range(3):
                    other = other * n + min(n - 1, at[axis] + (corner >> (2 - axis) & 1))
                if other != node and other not in mine:
                    mine.append(other)
        edges.append(mine)
    found, left = {0}, [0]
    while left:
        for node in edges[left.pop()]:
            if node not in found:
                found.add(node)
                left.append(node)
    return len(found)


GRAPH_ROUNDS = 10  # workloads/graph/shapes.hpp


def _chain(nodes: int) -> int:
    return sum(GRAPH_ROUNDS + i for i in range(nodes))


def _binary_tree(nodes: int) -> int:
    return sum(GRAPH_ROUNDS + (i + 1).bit_length() - 1 for i in range(nodes))


def _wavefront(side: int) -> int:
    return side**2 * (GRAPH_ROUNDS + side - 1)


def _metg(steps: int) -> int:
    return 64 * steps


COMPUTED = {
    "graph-chain": _chain,
    "graph-binary-tree": _binary_tree,
    "graph-binary-tree-1us": _binary_tree,
    "graph-wavefront": _wavefront,
    "graph-wavefront-1us": _wavefront,
    "metg-trivial": _metg,
    "metg-stencil": _metg,
    "metg-fft": _metg,
    "metg-random": _metg,
    "pipeline-linear": lambda n: sum((2 * i + 1) * (i + 1) for i in range(n)),
    "knapsack": _knapsack,
    "integrate": lambda n: n * n // 2 * (n * n // 2 + 1) // 1000,
    "savina-fib": _fib,
    "savina-list": _length_of_list,
    "savina-logistic": _logistic,
    "savina-sieve": _primes_below,
    "savina-filterbank": _filter_bank,
    "savina-astar": _reached,
    "savina-piprecision": _decimals_of_pi,
    "savina-uct": _unbalanced_tree,
    "savina-sor": _over_relaxation,
    "savina-queens": QUEENS.__getitem__,
    "savina-trapezoid": lambda _: TRAPEZOID,
    "savina-matmul": lambda n: n * (n * (n - 1) // 2) ** 2,
    "savina-radix": lambda n: _sum_of_random(2048, n),
    "savina-bitonicsort": lambda n: _sum_of_random(2048, n),
    "savina-quicksort": lambda n: _sum_of_random(1024, n),
}


def expected(workload: str, size: str) -> int:
    if workload.startswith("algorithm-"):
        return int(size)  # the program compares its whole result with that of std
    if workload == "uts":
        return UTS_NODES[size]
    if workload == "savina-paths":
        return PATHS[size]
    n = int(size)
    if workload in COMPUTED:
        return COMPUTED[workload](n)
    if workload in EACH:
        return EACH[workload] * n
    if workload == "fib":
        return _fib(n)
    if workload == "skynet":
        leaves = 10**n
        return leaves * (leaves - 1) // 2
    if workload == "nqueens":
        return QUEENS[n]
    if workload in NUMBERS_BELOW_SIZE:
        return n * (n - 1) // 2
    if workload == "thread-ring":
        return n % RING + 1
    if workload == "counting-actor":
        return n * (n - 1) // 2
    if workload == "skynet-actor":
        return n * (n - 1) // 2
    if workload == "prime-factors":
        return n * 20483
    if workload in PARTS:
        return -(-n // PARTS[workload]) * PARTS[workload]
    if workload in WORKLOADS and workload not in COMPUTED:
        return n
    raise ValueError(workload)
