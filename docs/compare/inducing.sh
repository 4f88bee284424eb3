#!/usr/bin/env bash
# Compares lossep on many rows with GPyTorch, LightGBM and scikit-learn. Everything is
# installed by name into a virtual environment in the folder given first; the rest goes to
# inducing.py.
#
#   docs/compare/inducing.sh /tmp/peers mammography --table mammography.csv
#   docs/compare/inducing.sh /tmp/peers credit
#   docs/compare/inducing.sh /tmp/peers flights
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:?a folder for the environment and the data}
shift
mkdir -p "$work" && work=$(cd "$work" && pwd)
if [ ! -x "$work/venv/bin/python" ]; then
	python3 -m venv "$work/venv"
	"$work/venv/bin/pip" install --quiet numpy pandas pyarrow scikit-learn lightgbm gpytorch empulse==0.13.1
fi
if [ ! -e "$work/flights-3m.parquet" ] && [ "${1:-}" = flights ]; then
	(cd "$work" && npm pack --silent vega-datasets@3.2.1 >/dev/null &&
		tar xzf vega-datasets-3.2.1.tgz --strip-components=2 package/data/flights-3m.parquet)
fi
(cd "$here/../.." && go build -o "$work/lossep" ./cmd/lossep)
exec "$work/venv/bin/python" "$here/inducing.py" --work "$work" "$@"
