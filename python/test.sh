#!/usr/bin/env bash
# The tests of the Python package, in a virtual environment with the wheel installed; then
# those of scikit-learn's conventions once more with a scikit-learn two versions older. Where there is no
# Python 3.10 or later, or no package index at hand, it says so and is content, but not in CI
# (CI=true), which has to run them. Arguments are passed to pytest; "-m ''" adds the slow tests.
set -euo pipefail
cd "$(dirname "$0")"
older=1.7.2

absent() {
  echo "NO TEST OF THE PYTHON PACKAGE WAS RUN: $1."
  [ "${CI:-}" != true ] || exit 1
  exit 0
}
python=${PYTHON:-python3}
"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  absent "there is no Python 3.10 or later with venv here ($python)"
environment=${LOSSEP_VENV:-.venv}
stamp=$environment/installed.txt
wanted=$(cat requirements-test.txt && echo "older $older")
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
  "$python" -m venv --clear "$environment"
  install="$environment/bin/pip install --quiet --no-compile --disable-pip-version-check --only-binary :all:"
  { $install -r requirements-test.txt && $install --no-deps --target "$environment/older" "scikit-learn==$older"; } ||
    absent "the packages of requirements-test.txt cannot be installed, there is no package index at hand"
  echo "$wanted" >"$stamp"
fi
bin=$(cd "$environment/bin" && pwd)
"$bin/ruff" check . # a line each: the shell goes on after a failure inside a && b
"$bin/ruff" format --check --quiet .
"$bin/mypy"
rm -rf build/tested
"$bin/hatchling" build -t wheel -d build/tested
"$bin/python" check_wheels.py build/tested/*.whl
"$bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall build/tested/*.whl
if [ $# -gt 0 ]; then exec "$bin/python" -m pytest -q "$@"; fi
# Both at once, as neither keeps two processors busy.
PYTHONPATH=$(cd "$environment/older" && pwd) "$bin/python" -m pytest -q -p no:cacheprovider \
  tests/test_estimator_checks.py tests/test_scikit_learn.py tests/test_costs.py >build/older.txt 2>&1 &
"$bin/python" -m pytest -q -m "not slow" || failed=1
wait $! || failed=1
echo "scikit-learn $older:"
cat build/older.txt
exit "${failed:-0}"
