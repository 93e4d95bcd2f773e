"""How often and when a process is restarted."""

from iln_stream.service.supervisor import RestartPolicy, Restarts


def test_each_restart_waits_twice_as_long():
    """Up to the longest wait."""
    restarts = Restarts(RestartPolicy(limit=6, within=600.0, first=1.0, longest=10.0))
    waits = [restarts.after_failure(float(second)) for second in range(6)]
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert restarts.n == 6


def test_failures_are_forgotten():
    """Only failures of the last minutes count, so that one a day is never too many."""
    restarts = Restarts(RestartPolicy(limit=1, within=60.0, first=1.0))
    assert [restarts.after_failure(100.0 * day) for day in range(10)] == [1.0] * 10
    assert restarts.after_failure(930.0) is None
