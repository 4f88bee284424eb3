#!/usr/bin/env bash
# A wheel for every platform, with the program cross-compiled into it, in dist; then each is
# looked into.
set -euo pipefail
cd "$(dirname "$0")"
environment=.venv-build
"$environment/bin/hatchling" --version >/dev/null 2>&1 || {
  "${PYTHON:-python3}" -m venv --clear "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check "$(grep '^hatchling==' requirements-test.txt)"
}
rm -rf dist
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64; do
  LOSSEP_PLATFORM=$platform "$environment/bin/hatchling" build -t wheel -d dist
done
"$environment/bin/python" check_wheels.py dist/*.whl
