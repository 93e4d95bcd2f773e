"""Predictions with ids and their labels, over HTTP, with real processes that are killed."""

import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.embedded_log import read, values
from support.ports import free_port
from support.running_api import eventually, example
from support.running_command import Start
from support.saved_state import saved

from iln_stream.serving.client import Client
from iln_stream.serving.client_calls import Retries

N = 120
LATE = 15
"""Events that are predicted between an event and its label."""

RUN = (
    *("run", "--source", "sqlite:log.db", "--start", "earliest", "--pending-events", "1000"),
    *("--learner-options", '{"profile": "fast"}', "--metrics-port", "0"),
    *("--dead-letters", "sqlite:log.db#letters"),
)


def has_events(n: int) -> Callable[[dict[str, float]], bool]:
    """Return a condition: the run has predicted this many events."""
    return lambda now: now.get("iln_events_total", 0.0) >= n


@pytest.mark.thorough
def test_predict_then_feedback(start: Start, tmp_path: Path) -> None:
    """The run predicts what /predict recorded and learns what /feedback brought, each once and as
    without interruption, although both processes are killed while requests are on their way."""
    often = ("--snapshot-seconds", "0.05", "--publish", "models")
    run = (*RUN, "--snapshots", "s", "--predictions", "sqlite:log.db#predictions", *often)
    port = free_port()
    serve = ("serve", "--port", str(port))
    learner, api = start(*run), start(*serve)
    client = Client(
        f"http://127.0.0.1:{port}", retries=Retries(most=500, within=60.0), trust_env=False
    )

    def is_ready() -> bool:
        assert learner.runs, learner.said
        assert api.runs, api.said
        return "serving http" in api.said and client.ready().ready

    eventually(is_ready)
    places, draw = {}, random.Random(1)
    with client, ThreadPoolExecutor(2) as sending:
        for t in range(N + LATE):
            requests = []
            if t < N:
                requests.append(sending.submit(client.predict, example(t), id=f"e{t}"))
            if t >= LATE:
                y = math.cos(t - LATE)
                requests.append(sending.submit(client.feedback, f"e{t - LATE}", y))
            if t == 70:
                time.sleep(draw.uniform(0, 0.01))  # before, while or after it appends
                api.kill()
                api = start(*serve)
            if t in (40, 100):
                learner.wait_for_metrics(has_events(t - 5))
                learner.kill()
                learner = start(*run)
            for request in requests:
                answer = request.result()
                place = getattr(answer, "appended", answer)
                places["partition" in answer._fields, place.offset] = answer
        for t in range(N):
            assert not client.predict(example(t), id=f"e{t}").appended.is_new  # type: ignore[union-attr]
            assert not client.feedback(f"e{t}", math.cos(t)).is_new
    learner.kill()
    learner = start(*run, "--stop-at-end")
    assert learner.wait() == 0, learner.said

    records = [json.loads(record.payload) for record in read(tmp_path / "log.db")]
    sent = Counter((each["id"], each.get("y")) for each in records)
    assert sent == Counter([(f"e{t}", y) for t in range(N) for y in (None, math.cos(t))])
    assert len(places) == 2 * N
    assert Counter(is_label for is_label, _ in places) == {True: N, False: N}
    assert all(("y" in records[offset]) == is_label for is_label, offset in places)

    whole = ("--snapshots", "whole", "--predictions", "sqlite:log.db#whole", "--stop-at-end")
    finished = start(*RUN, *whole)
    assert finished.wait() == 0, finished.said
    published = values(tmp_path / "log.db", "predictions")
    assert published == values(tmp_path / "log.db", "whole")
    assert [json.loads(each)["id"] for each in published] == [
        each["id"] for each in records if "y" not in each
    ]
    ours, theirs = saved(tmp_path / "s", "log-events"), saved(tmp_path / "whole", "log-events")
    assert ours.learner == theirs.learner
    assert (ours.n_labelled, ours.n_dead_letters) == (theirs.n_labelled, 0) == (N, 0)
