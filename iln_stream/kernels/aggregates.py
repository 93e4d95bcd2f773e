"""What a key's row knows of its events: counts, sums, extremes, ..., by steps of windows.

A *measure* is a few columns of a row, each with one number for each step of its window; without a
window with one for all events. A step's place is its number modulo `STEPS`, so a window needs no
moving: what it has passed is set to 0 when a newer event comes.
"""

import numpy as np

from iln_stream.kernels.jit import compiled

STEPS = 16
"""A window moves in sixteenths of its length."""

N_EVENTS, NEWEST, HEAD = 0, 1, 2
"""Of a row: the key's events; the time of the newest; and where its measures begin."""

EVENTS, SUM, MOMENTS, EXTREMES, LAST, DISTINCT, LABELS = range(7)
"""Kinds of measures."""

WORDS, BITS = 6, 48
"""Of a set of distinct values: its numbers, and bits in each, so that a double holds them."""

COLUMNS = (1, 2, 3, 3, 2, WORDS, 2)
"""By kind: events; values and their sum; values, mean and the sum of squared distances from it;
values, the least and the largest; whether there was a value, and the last; bits; labels and their
sum."""

KIND, BEGIN, N_STEPS, VALUE = range(4)
"""Of a measure: its kind; where it begins in the row; its steps, 1 without a window; and which
value it is of."""

COUNT, SINCE_LAST, TOTAL, MEAN, STD, MIN, MAX, OF_LAST, N_DISTINCT, RATIO, LABEL_MEAN = range(11)
"""What is read."""

SMOOTHING = 10.0
"""The mean of all keys' labels counts as much as this many of the key's."""


@compiled
def live_steps(row, n_steps, seconds, time):  # type: ignore[no-untyped-def]
    """The first step of the window that ends at a time, and the number of those that are known."""
    if n_steps == 1:
        return 0, 1
    now, newest = int(np.floor(time / seconds)), int(np.floor(row[NEWEST] / seconds))
    first = max(now, newest) - n_steps + 1
    return first, max(min(now, newest) - first + 1, 0)


@compiled
def add_event(row, of_all, measures, seconds, values, time):  # type: ignore[no-untyped-def]
    """Count an event of the key; nan: it has no such value, or its label is not known."""
    is_first = row[N_EVENTS] == 0.0
    for j in range(len(measures)):
        kind, n, value = measures[j, KIND], measures[j, N_STEPS], values[measures[j, VALUE]]
        at = measures[j, BEGIN]
        if kind == LABELS:
            if not np.isnan(value):
                for each in (row, of_all):
                    each[at] += 1.0
                    each[at + 1] += value
            continue
        if n > 1:
            now = int(np.floor(time / seconds[j]))
            newest = now if is_first else int(np.floor(row[NEWEST] / seconds[j]))
            if now <= newest - n:
                continue  # the window has passed it
            for passed in range(max(newest + 1, now - n + 1), now + 1):
                for column in range(COLUMNS[kind]):
                    row[at + column * n + passed % n] = 0.0
            at += now % n
        if kind == EVENTS:
            row[at] += 1.0
        if kind == EVENTS or np.isnan(value):
            continue
        if kind == SUM:
            row[at] += 1.0
            row[at + n] += value
        elif kind == MOMENTS:
            row[at] += 1.0
            away = value - row[at + n]
            row[at + n] += away / row[at]
            row[at + 2 * n] += away * (value - row[at + n])
        elif kind == EXTREMES:
            row[at + n] = min(row[at + n], value) if row[at] > 0.0 else value
            row[at + 2 * n] = max(row[at + 2 * n], value) if row[at] > 0.0 else value
            row[at] += 1.0
        elif kind == LAST:
            row[at], row[at + n] = 1.0, value
        elif kind == DISTINCT:
            place = at + int(value) // BITS * n
            row[place] = int(row[place]) | (1 << (int(value) % BITS))
    row[NEWEST] = time if is_first else max(row[NEWEST], time)
    row[N_EVENTS] += 1.0


@compiled
def read_aggregates(row, of_all, reads, measures, seconds, values, time, out):  # type: ignore[no-untyped-def]
    """Write what each read says of the events before one at this time to `out`; nan: nothing.

    A read is what it asks for, of which measure, and where it writes: (R, 3). `of_all` is the row
    of all keys' labels.
    """
    n_events = row[N_EVENTS]
    for r in range(len(reads)):
        how, j, to = reads[r, 0], reads[r, 1], reads[r, 2]
        out[to] = np.nan
        if how == SINCE_LAST:
            if n_events > 0.0:
                out[to] = max(time - row[NEWEST], 0.0)
            continue
        if j < 0:
            out[to] = n_events
            continue
        at, n = measures[j, BEGIN], measures[j, N_STEPS]
        if how == LABEL_MEAN:
            if of_all[at] > 0.0:
                prior = of_all[at + 1] / of_all[at]
                out[to] = (row[at + 1] + SMOOTHING * prior) / (row[at] + SMOOTHING)
            continue
        first, n_live = (0, 0) if n_events == 0.0 else live_steps(row, n, seconds[j], time)
        count, total, away, extreme = 0.0, 0.0, 0.0, np.nan
        if how == N_DISTINCT:
            n_set = 0
            for word in range(WORDS):
                bits = 0
                for step in range(first, first + n_live):
                    bits |= int(row[at + word * n + step % n])
                while bits:
                    bits &= bits - 1
                    n_set += 1
            share = min(n_set, WORDS * BITS - 1) / (WORDS * BITS)
            out[to] = -WORDS * BITS * np.log(1.0 - share)
            continue
        for step in range(first, first + n_live):
            place = at + step % n
            own = row[place]
            if own == 0.0:
                continue
            count += own
            if how in (TOTAL, MEAN, RATIO):
                total += row[place + n]
            elif how == STD:
                from_mean = row[place + n] - total  # the mean so far
                total += from_mean * own / count
                away += row[place + 2 * n] + from_mean * from_mean * own * (count - own) / count
            elif how == MIN:
                low = row[place + n]
                extreme = low if np.isnan(extreme) else min(extreme, low)
            elif how == MAX:
                high = row[place + 2 * n]
                extreme = high if np.isnan(extreme) else max(extreme, high)
            elif how == OF_LAST:
                extreme = row[place + n]
        if how == COUNT:
            out[to] = count
        elif how == TOTAL:
            out[to] = total
        elif how == MEAN:
            out[to] = total / count if count > 0.0 else np.nan
        elif how == RATIO:
            mean = total / count if count > 0.0 else 0.0
            out[to] = values[measures[j, VALUE]] / mean if mean != 0.0 else np.nan
        elif how == STD:
            out[to] = np.sqrt(away / (count - 1.0)) if count > 1.0 else np.nan
        else:
            out[to] = extreme
