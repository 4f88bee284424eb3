#!/usr/bin/env bash
# Compares decisions by lossep with those of scikit-learn, LightGBM and CatBoost on the same
# folds, and prints a table. Everything is installed by name into a virtual environment in
# the folder given first; the rest goes to tables.py.
#
#   docs/compare/tables.sh /tmp/peers --table german.csv --positive 2 --seeds 1,2,3
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:?a folder for the environment and the results}
shift
mkdir -p "$work" && work=$(cd "$work" && pwd)
if [ ! -x "$work/tables/bin/python" ]; then
	python3 -m venv "$work/tables"
	"$work/tables/bin/pip" install --quiet numpy pandas scikit-learn lightgbm catboost
fi
(cd "$here/../.." && CGO_ENABLED=0 go build -o "$work/lossep" ./cmd/lossep)
exec "$work/tables/bin/python" "$here/tables.py" --lossep "$work/lossep" --work "$work" "$@"
