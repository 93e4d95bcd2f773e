"""An endless stream: a city's demand for power, hour by hour, which changes from time to time."""

from collections.abc import Iterator
from math import cos, pi, sin
from random import Random
from typing import Any

SEASON = 2500
"""Events after which the city changes: how it heats and cools, and when it is busy."""


def demand(seed: int) -> Iterator[dict[str, Any]]:
    """Yield events without end: x, and the label y in megawatts."""
    rng = Random(seed)  # noqa: S311
    temperature, wind, clouds, industry = 12.0, 4.0, 0.5, 0.5
    hour = 0
    while True:
        city = Random(seed + hour // SEASON)  # noqa: S311
        heating, cooling = city.uniform(1.0, 3.5), city.uniform(0.5, 4.0)
        peak, evening = city.uniform(6.0, 10.0), city.uniform(15.0, 40.0)
        while True:
            day = hour / 24.0
            season = 12.0 + 9.0 * sin(2.0 * pi * day / 100.0)
            temperature += 0.15 * (
                season - 3.0 * clouds + 5.0 * sin(2 * pi * (day - 0.4)) - temperature
            )
            temperature += rng.gauss(0.0, 0.5)
            wind = max(0.0, wind + 0.2 * (5.0 - wind) + rng.gauss(0.0, 1.0))
            clouds = min(1.0, max(0.0, clouds + rng.gauss(0.0, 0.15)))
            if rng.random() < 0.1:
                industry = rng.random()
            works = int(day) % 7 < 5
            busy = evening * max(0.0, sin(pi * ((hour % 24) - peak) / 14.0))
            y = 220.0 + busy * (1.0 if works else 0.45)
            y += heating * max(0.0, 15.0 - temperature) + cooling * max(0.0, temperature - 20.0)
            y += 25.0 * industry * (1.5 if works else 1.0)
            y -= 1.5 * wind + 8.0 * (1.0 - clouds)
            x = {
                "temperature": round(temperature, 2),
                "wind": round(wind, 2),
                "clouds": round(clouds, 2),
                "industry": round(industry, 3),
                "hour_sin": round(sin(2 * pi * day), 4),
                "hour_cos": round(cos(2 * pi * day), 4),
                "weekday_sin": round(sin(2 * pi * day / 7), 4),
                "weekday_cos": round(cos(2 * pi * day / 7), 4),
                "noise": round(rng.gauss(0.0, 1.0), 3),
            }
            yield {"x": x, "y": round(y + rng.gauss(0.0, 2.0), 2), "id": f"h-{hour}"}
            hour += 1
            if hour % SEASON == 0:
                break
