#!/usr/bin/env bash
# The tests of the Python package, in a virtual environment with the wheel installed. Where
# there is no Python 3.10 or later, or no package index at hand, it says so and is content.
# Arguments are passed to pytest; "-m ''" adds the slow tests.
set -euo pipefail
cd "$(dirname "$0")"

absent() { echo "The tests of the Python package are skipped: $1."; exit 0; }
python=${PYTHON:-python3}
"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  absent "there is no Python 3.10 or later with venv"
environment=${LOSSEP_VENV:-.venv}
stamp=$environment/installed.txt
if ! cmp -s requirements-test.txt "$stamp" 2>/dev/null; then
  "$python" -m venv --clear "$environment"
  "$environment/bin/pip" install --quiet --no-compile --disable-pip-version-check --only-binary :all: -r requirements-test.txt ||
    absent "the packages of requirements-test.txt cannot be installed here"
  cp requirements-test.txt "$stamp"
fi
bin=$(cd "$environment/bin" && pwd)
"$bin/ruff" check . && "$bin/ruff" format --check --quiet . && "$bin/mypy"
rm -rf build/tested
"$bin/hatchling" build -t wheel -d build/tested
"$bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall build/tested/*.whl
if [ $# -eq 0 ]; then set -- -m "not slow"; fi
exec "$bin/python" -m pytest -q "$@"
