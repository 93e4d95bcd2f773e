"""Further held-out streams, made when nobody had looked at any of them.

They are small simulations, of kinds that no design stream shares. Never try, choose or tune
anything on them. `make_regression` behind a tanh was held out before, but plain `make_regression`
is a design stream, so that one had to go.
"""

import math
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.quality.streams.stream import Stream

Rows = Iterator[tuple[dict[str, Any], float]]

N_EVENTS = 3000
SEED = 90210


def _queue() -> Rows:
    """Minutes from a customer's arrival to departure, known at arrival but for the service."""
    draws = np.random.RandomState(SEED)
    service = {"letter": 1.0, "parcel": 2.5, "passport": 7.0}
    kinds = list(service)
    departures: deque[float] = deque()
    clock = free = 0.0
    for _ in range(N_EVENTS):
        hour = clock / 60 % 24
        busy = 0.45 + 0.4 * math.sin(math.pi * hour / 12) ** 2
        gap = float(draws.exponential(2.5 / busy))
        clock += gap
        while departures and departures[0] <= clock:
            departures.popleft()
        kind = kinds[int(draws.choice(3, p=(0.5, 0.35, 0.15)))]
        waiting = len(departures)
        free = max(free, clock) + service[kind] * float(draws.gamma(4.0, 0.25))
        departures.append(free)
        yield {"hour": hour, "gap": gap, "waiting": waiting, "kind": kind}, free - clock


def _enzyme() -> Rows:
    """A reaction's rate: saturation, inhibition, heat and acidity; the enzyme ages in batches."""
    draws = np.random.RandomState(SEED + 1)
    for t in range(N_EVENTS):
        substrate, inhibitor = np.exp(draws.uniform(-3.0, 3.0, 2)).tolist()
        heat, acidity, dose = draws.uniform((15.0, 4.5, 0.5), (60.0, 9.5, 2.0)).tolist()
        active = math.exp(0.06 * (heat - 37)) / (1 + math.exp(0.5 * (heat - 48)))
        active *= math.exp(-0.7 * (acidity - 7.2) * (acidity - 7.2))
        active *= dose * math.exp(-(t % 700) / 900)
        rate = active * substrate / (0.8 * (1 + inhibitor / 0.5) + substrate)
        x = {
            "substrate": substrate,
            "inhibitor": inhibitor,
            "temperature": heat,
            "acidity": acidity,
            "dose": dose,
        }
        yield x, 40 * rate * math.exp(0.05 * float(draws.normal()))


def _trips() -> Rows:
    """Minutes of a trip across a river with two bridges, one of which closes for 700 trips."""
    draws = np.random.RandomState(SEED + 2)
    for t in range(N_EVENTS):
        x0, y0, x1, y1 = draws.uniform(0.0, 10.0, 4).tolist()
        hour, rain = float(draws.uniform(0.0, 24.0)), float(draws.binomial(1, 0.2))
        weekend = t // 100 % 7 >= 5
        bridges = (8.0,) if 1500 <= t < 2200 else (2.0, 8.0)
        way = abs(x1 - x0) + abs(y1 - y0)
        if (y0 < 5.0) != (y1 < 5.0):
            way = abs(y1 - y0) + min(abs(x0 - b) + abs(x1 - b) for b in bridges)
        rush = math.exp(-((hour - 8) ** 2) / 2) + math.exp(-((hour - 17.5) ** 2) / 4)
        slow = 1 + (0.2 if weekend else 1.0) * rush + 0.3 * rain
        x = {
            "from x": x0,
            "from y": y0,
            "to x": x1,
            "to y": y1,
            "hour": hour,
            "rain": rain,
            "day": "weekend" if weekend else "weekday",
        }
        yield x, (3 + 1.6 * way * slow) * math.exp(0.08 * float(draws.normal()))


def _heating() -> Rows:
    """A house's heating power in the next quarter of an hour, of at most 6 kW, by a thermostat."""
    draws = np.random.RandomState(SEED + 3)
    inside, wall, weather = 19.0, 16.0, 0.0
    for t in range(N_EVENTS):
        hour = t / 4 % 24
        weather = 0.995 * weather + 0.15 * float(draws.normal())
        outside = 6 - 4 * math.cos(2 * math.pi * (hour - 3) / 24) + 3 * weather
        sun = max(0.0, math.sin(math.pi * (hour - 7) / 10)) * (0.3 + 0.7 * float(draws.uniform()))
        wish = 21.0 if 6 <= hour < 22 else 17.0
        power = min(max(2.5 * (wish - inside) + 0.12 * (wish - outside), 0.0), 6.0)
        x = {"hour": hour, "outside": outside, "inside": inside, "sun": sun, "wish": wish}
        yield x, max(power + 0.1 * float(draws.normal()), 0.0)
        inside += 0.25 * (
            0.5 * power + 1.2 * sun - 0.05 * (inside - outside) - 0.4 * (inside - wall)
        )
        wall += 0.02 * (inside - wall) - 0.004 * (wall - outside)


HELD_OUT_2 = (
    Stream(
        "queue-times",
        "held-out-2",
        "Minutes in a post office: a simulated queue, by hour, gap, length and kind of service",
        _queue,
        checksum="8eba604fe9db3d88",
    ),
    Stream(
        "enzyme-rates",
        "held-out-2",
        "A simulated reaction's rate: saturation, inhibition, heat, acidity; the enzyme ages",
        _enzyme,
        checksum="6dd90e7ed6d25b18",
    ),
    Stream(
        "city-trips",
        "held-out-2",
        "Minutes of trips across a river with two bridges, one of them closed for 700 trips",
        _trips,
        checksum="b9328ebb4dbed2a2",
    ),
    Stream(
        "house-heating",
        "held-out-2",
        "A simulated house's heating power, every quarter of an hour, of at most 6 kW",
        _heating,
        checksum="63b24c584b32c5b3",
    ),
)
