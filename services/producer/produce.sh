#!/bin/sh
# What the stack's producer runs: by default a stream that drifts, for ever.
set -eu
exec iln-stream replay "${ILN_SOURCE:-synthetic:FriedmanDrift}" --rate "${ILN_RATE:-50}"
