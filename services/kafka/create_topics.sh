#!/bin/sh
# Creates the stack's topics with the tool of the Kafka image; existing topics stay unchanged.
# Clients would create them, too, but with the broker's default retention.
set -eu

hour=3600000 # ms

# create_topic NAME RETENTION_HOURS: one partition, as Kafka keeps order only within a partition.
create_topic() {
  /opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka:19092 --create --if-not-exists \
    --topic "$1" --partitions 1 --replication-factor 1 \
    --config "retention.ms=$(($2 * hour))" --config "segment.ms=$hour"
}

create_topic iln-events 6 # the longest outage of a learner; a rebuild learns all of it
create_topic iln-predictions 6
create_topic iln-events-dead-letters 720 # a person has to read them
create_topic iln-events-dead-letters-replayed 720 # as long as the letters, or they could be replayed twice
