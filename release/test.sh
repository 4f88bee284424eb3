#!/usr/bin/env bash
# Runs what a release consists of, as far as it runs here: the archive; the package, installed by
# apt in a clean Debian root without Go, Python or a network; the wheel in a virtual environment;
# and the image's root as its user. Wants root, and mmdebstrap with a Debian mirror.
set -euo pipefail
cd "$(dirname "$0")/dist"
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
printf 'x,y\n' >"$work/cases.csv"
for i in $(seq 1 60); do echo "$((i * 7 % 60)),$((i * 7 % 60 > 25 + i % 3 * 5))" >>"$work/cases.csv"; done
printf 'y,p\n' >"$work/scores.csv"
for i in $(seq 1 60); do echo "$((i * 7 % 60 > 30)),0.$((10 + i * 7 % 60))" >>"$work/scores.csv"; done

try() { # how to run it, in a folder that it may write to
  "$@" --version
  "$@" fit cases.csv --target y --cost fn=5,fp=1 --kernel rbf -o model.lossep >/dev/null 2>&1
  "$@" decide model.lossep cases.csv 2>/dev/null | grep positive >/dev/null
  "$@" audit scores.csv --target y --cost fn=5,fp=1 --probability p --out audit >/dev/null 2>&1
  echo "  works: $*"
}
folder() { mkdir -p "$1" && cp "$work"/*.csv "$1" && chmod 777 "$1"; }

sha256sum --quiet --check checksums.txt

echo "archive"
mkdir "$work/archive"
tar -xzf lossep_*_linux_"$arch".tar.gz -C "$work/archive"
folder "$work/in-archive"
(cd "$work/in-archive" && try "$work/archive/lossep")

echo "Debian package"
mmdebstrap --variant=apt --quiet bookworm "$work/debian" >/dev/null
for absent in go python3; do
  ! chroot "$work/debian" sh -c "command -v $absent" || { echo "$absent is there"; exit 1; }
done
rm -f "$work/debian"/etc/apt/sources.list "$work/debian"/etc/apt/sources.list.d/*
cp lossep_*_linux_"$arch".deb "$work/debian/tmp/lossep.deb"
# A name space of its own has no network but the loopback.
unshare --net chroot "$work/debian" apt-get install -y -q /tmp/lossep.deb >/dev/null
folder "$work/debian/cases"
try unshare --net chroot "$work/debian" env -C /cases lossep

if ls ./*.whl >/dev/null 2>&1; then
  echo "wheel"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check ./lossep-*manylinux*"$(uname -m)"*.whl
  folder "$work/in-wheel"
  (cd "$work/in-wheel" && try "$work/venv/bin/lossep")
fi

echo "image"
mkdir "$work/layout" "$work/image"
tar -xf lossep_*_linux_"$arch"_image.tar -C "$work/layout"
(cd "$work/layout/blobs/sha256" && for blob in *; do echo "$blob  $blob"; done | sha256sum --quiet --check)
layer=$(sed -n 's/.*tar+gzip", "digest": "sha256:\([0-9a-f]*\)".*/\1/p' "$work"/layout/blobs/sha256/*)
tar -xzf "$work/layout/blobs/sha256/$layer" -C "$work/image"
folder "$work/image/work"
try unshare --net --root="$work/image" --wd=/work --setgid 65532 --setuid 65532 /usr/bin/lossep
