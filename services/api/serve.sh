#!/bin/sh
# The stack's API. Its first start makes a random token, which a volume keeps.
set -eu
token=/var/lib/iln-api/token
if [ ! -s "$token" ]; then
  python -c 'import secrets; print(secrets.token_hex(32))' > "$token.new"
  mv "$token.new" "$token" # Prometheus reads it, too
fi
exec iln-stream serve --config /services/api.toml
