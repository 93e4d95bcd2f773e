#!/bin/sh
# The stack's producer: by default an endless stream that drifts.
set -eu
exec iln-stream replay "${ILN_SOURCE:-synthetic:FriedmanDrift}" --rate "${ILN_RATE:-50}"
