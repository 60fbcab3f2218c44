"""How long a query waits where several servers share a queue: the M/M/c model of Erlang (1917)."""

from __future__ import annotations

import math


def erlang_c(servers: int, offered: float) -> float:
    """The probability that a query must wait; ``offered`` is the rate of arrivals over one server's. 1 when overloaded.

    By the recursion of Erlang's B formula, B(0) = 1, B(n) = a B(n-1) / (n + a B(n-1)); C = B / (1 - (a/c) (1 - B)).
    """
    if offered >= servers:
        return 1.0
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    return blocked / (1 - offered / servers * (1 - blocked))


def wait_bound(servers: int, rate: float, each: float, certainty: float) -> float:
    """Seconds that a query waits at most with this certainty, at ``rate`` queries per second and ``each`` per server.

    The wait's tail is C exp(-(c mu - lambda) t). Infinite when overloaded.
    """
    if servers < 1 or rate >= servers * each:
        return math.inf
    waits = erlang_c(servers, rate / each)
    return max(0.0, math.log(max(waits, 1e-300) / (1 - certainty)) / (servers * each - rate))
