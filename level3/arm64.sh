#!/bin/sh
# Runs the tests of what has vector code for arm64, and of what stands on it: on another machine by
# qemu, where that is installed. With "short" only those of the vector code itself that are quick.
set -eu
cd "$(dirname "$0")/.."
emulator=
if [ "$(go env GOHOSTARCH)" != arm64 ]; then
  emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || {
    echo "No emulator of arm64: its tests are skipped. Install qemu-user."
    exit 0
  }
fi
export GOARCH=arm64
go vet ./level3 ./internal/lanes
if [ "${1-}" = short ]; then
  exec go test -short ${emulator:+-exec "$emulator"} -run 'SameBits|SmallShapes|GuardPages|Partition|ZeroPivot|Sums|Add|Decays|Normals|Blend|Outer|Triples' ./level3 ./internal/lanes
fi
GOARCH= go test -C internal/asm ./...
# What counts allocations takes as long as all the rest, and has nothing to do with the processor.
go test -short ${emulator:+-exec "$emulator"} -timeout 60m -skip Allocat ./level3 ./internal/lanes ./normal ./kernel ./gauss ./pass
