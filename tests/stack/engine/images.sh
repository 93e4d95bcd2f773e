# Builds stand-in images under the names in docker-compose.yml and our Dockerfile.
# shellcheck shell=bash disable=SC2154

make_images() {
  local name
  docker image inspect iln-stack-root > /dev/null 2>&1 ||
    docker import --change 'CMD ["python3"]' --change 'ENV LANG=C.UTF-8' \
      "$CACHE/root.tar" iln-stack-root > /dev/null
  for name in $(named_images); do
    case $name in
      python:3.11-*) docker tag iln-stack-root "$name" ;;
      apache/kafka:"$(kafka_version)") build "$name" kafka --build-context jars="$(kafka_jars)" ;;
      prom/prometheus:*) build "$name" prometheus --build-context programs="$PROGRAMS" ;;
      *) continue ;; # ours is built by the test; Grafana is in no package registry
    esac
    say "stand-in for $name"
  done
}

named_images() {
  {
    docker compose --file "$TOP/docker-compose.yml" config --images
    sed -n 's/^FROM \([^ ]*\).*/\1/p' "$TOP"/services/*/Dockerfile
  } | sort -u
}

build() { # build NAME RECIPE ARGUMENT...
  docker build --quiet --network none --tag "$1" "${@:3}" "$HERE/engine/images/$2" > /dev/null
}

kafka_version() { named_images | sed -n 's|^apache/kafka:||p'; }
kafka_jars() { echo "$CACHE/kafka-$(kafka_version)"; }

fetch_kafka() {
  local jars
  jars=$(kafka_jars)
  [ ! -d "$jars" ] || return 0
  rm -rf "$jars.part"
  mvn --quiet --batch-mode --file "$HERE/engine/images/kafka/pom.xml" "-Dkafka.version=$(kafka_version)" \
    dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$jars.part" > "$CACHE/mvn.log" 2>&1 || {
    tail -20 "$CACHE/mvn.log" >&2
    return 1
  }
  mv "$jars.part" "$jars"
  say "Kafka's jars: $(du -sh "$jars" | cut -f1)"
}
