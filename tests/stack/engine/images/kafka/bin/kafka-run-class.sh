#!/bin/bash
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:--Xmx256M} \
  ${KAFKA_LOG4J_OPTS:--Dlog4j.configuration=file:/etc/kafka/docker/tools-log4j.properties} -cp '/opt/kafka/libs/*' "$@"
