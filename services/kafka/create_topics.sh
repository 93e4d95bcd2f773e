#!/bin/sh
# Creates the stack's topics with the tool of the Kafka image; those that exist are left as they are.
# The clients would create their own, too, but then the broker's defaults would say how long for.
set -eu

hour=3600000 # ms

# create_topic NAME HOURS_KEPT: one partition, since order holds only within one.
create_topic() {
  /opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka:19092 --create --if-not-exists \
    --topic "$1" --partitions 1 --replication-factor 1 \
    --config "retention.ms=$(($2 * hour))" --config "segment.ms=$hour"
}

create_topic iln-events 6 # as long as a learner may be away; a rebuild learns all of it
create_topic iln-predictions 6
create_topic iln-events-dead-letters 720 # somebody has to find the time to read them
create_topic iln-events-dead-letters-replayed 720 # as long as the letters, or they would be replayed again
