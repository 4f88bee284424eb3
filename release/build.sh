#!/usr/bin/env bash
# All that a release consists of, in release/dist: archives, packages, checksums, bills of
# materials and a Homebrew cask by GoReleaser, images, and wheels. The same commit gives the same
# archives. An argument such as linux/amd64 makes those of one platform only, without wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
goreleaser=github.com/goreleaser/goreleaser/v2@v2.16.0
LOSSEP_VERSION=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' summary.go)
# GoReleaser knows the commit only where a remote is configured.
LOSSEP_DATE=$(git log -1 --format=%cI)
LOSSEP_TIMESTAMP=$(git log -1 --format=%ct)
export LOSSEP_VERSION LOSSEP_DATE LOSSEP_TIMESTAMP
configuration=$(mktemp)
trap 'rm -f "$configuration"' EXIT
cp release/goreleaser.yaml "$configuration"
platforms="linux/amd64 linux/arm64"
if [ $# -gt 0 ]; then
  platforms=$1
  sed -i "s/goos: \[.*/goos: [${1%/*}]/; s/goarch: \[.*/goarch: [${1#*/}]/" "$configuration"
fi
go run "$goreleaser" release --snapshot --clean --config "$configuration"
for platform in $platforms; do
  case $platform in linux/*) release/image.sh "$platform" ;; esac
done
if [ $# -eq 0 ]; then
  python/wheels.sh
  cp python/dist/*.whl release/dist/
fi
cd release/dist
sha256sum -- *.tar.gz *.deb *.rpm *.cdx.json *.tar $(ls ./*.zip ./*.whl 2>/dev/null || true) >checksums.txt
