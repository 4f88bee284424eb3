#!/usr/bin/env bash
# Fits three million flights in one process and on the Flink of run.sh, with the kernel given,
# and holds the models against each other. Every pass says how long it took. POINTS is how many
# inducing points there are, 100 if nothing is said, and WORKERS how many workers, 2.
#   run.sh flights.sh FOLDER [flags of fit, in place of those below]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift
[ $# -gt 0 ] || set -- --inducing "${POINTS:-100}" --fixed --kernel 'matern32(variance=1.1, lengthscale=[1.9, 1, 10, 3.6, 2.9, 3.1]) + constant(variance=0.64)'
fit=(fit "$folder" --target late --positive 1 --id flight --cost 'fn=3,fp=1' "$@")
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
time "$here/../../lossep" "${fit[@]}" -o "$to/one.lossep"
time "$here/../lossep-beam" "${fit[@]}" -o "$to/flink.lossep" --verbose \
  --runner universal --endpoint "$FLINK" --environment_type LOOPBACK --parallelism "${WORKERS:-2}" 2> >(grep -v level=INFO >&2)
cmp "$to/one.lossep" "$to/flink.lossep" && echo "the models are the same"
