"""What everything that talks to Kafka brokers through kafka-python shares."""

from iln_stream.brokers.options import CONNECTION, known_to, require_known
from iln_stream.brokers.waiting import wait_for_brokers

__all__ = ["CONNECTION", "known_to", "require_known", "wait_for_brokers"]
