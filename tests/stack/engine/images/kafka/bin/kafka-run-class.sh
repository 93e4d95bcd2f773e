#!/bin/bash
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:--Xmx256M} -Dlog4j.configuration=file:/etc/kafka/docker/log4j.properties \
  -cp '/opt/kafka/libs/*' "$@"
