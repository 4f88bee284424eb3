#!/usr/bin/env bash
# Runs what a release consists of, as far as it runs here: the archive; the .deb, installed by
# apt in a clean Debian root without Go, Python or a network; what is in the .rpm, where rpm2cpio and
# cpio are there; the wheel in a virtual environment; the image's root as its user; and the archive and
# the image of the other architecture, where qemu-user-static is there. What is for other systems is
# looked into. Wants root, and mmdebstrap with a Debian mirror.
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

echo ".deb"
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

if command -v rpm2cpio cpio >/dev/null; then
  echo ".rpm"
  mkdir "$work/rpm"
  rpm2cpio lossep_*_linux_"$arch".rpm | (cd "$work/rpm" && cpio -idm --quiet)
  folder "$work/rpm/cases"
  try unshare --net --root="$work/rpm" --wd=/cases /usr/bin/lossep
fi

if ls ./*.whl >/dev/null 2>&1; then
  echo "wheel"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check ./lossep-*manylinux*"$(uname -m)"*.whl
  folder "$work/in-wheel"
  (cd "$work/in-wheel" && try "$work/venv/bin/lossep")
fi

image() { # of an architecture, run by what comes behind it
  local arch=$1 layer
  shift
  mkdir "$work/layout-$arch" "$work/image-$arch"
  tar -xf lossep_*_linux_"$arch"_image.tar -C "$work/layout-$arch"
  (cd "$work/layout-$arch/blobs/sha256" && for blob in *; do echo "$blob  $blob"; done | sha256sum --quiet --check)
  layer=$(sed -n 's/.*tar+gzip", "digest": "sha256:\([0-9a-f]*\)".*/\1/p' "$work/layout-$arch"/blobs/sha256/*)
  tar -xzf "$work/layout-$arch/blobs/sha256/$layer" -C "$work/image-$arch"
  folder "$work/image-$arch/work"
  if [ $# -gt 0 ]; then cp "$(command -v "$1")" "$work/image-$arch/usr/bin/run" && set -- /usr/bin/run; fi
  try unshare --net --root="$work/image-$arch" --wd=/work --setgid 65532 --setuid 65532 "$@" /usr/bin/lossep
}
echo "image"
image "$arch"

case $arch in amd64) other=arm64 emulator=qemu-aarch64-static ;; *) other=amd64 emulator=qemu-x86_64-static ;; esac
if [ -e lossep_*_linux_"$other".tar.gz ] && command -v "$emulator" >/dev/null; then
  echo "archive and image of $other"
  mkdir "$work/$other"
  tar -xzf lossep_*_linux_"$other".tar.gz -C "$work/$other"
  folder "$work/in-$other"
  (cd "$work/in-$other" && try "$emulator" "$work/$other/lossep")
  image "$other" "$emulator"
fi

for archive in lossep_*_darwin_*.tar.gz lossep_*_windows_*.zip; do
  [ -e "$archive" ] || continue
  echo "$archive"
  case $archive in *.zip) python3 -m zipfile -l "$archive" ;; *) tar -tzf "$archive" ;; esac | grep -E '(^|[ /])lossep(\.exe)?( |$)' >/dev/null
done
for bill in ./*.cdx.json; do python3 -m json.tool "$bill" /dev/null; done
if [ -e homebrew/Casks/lossep.rb ] && command -v ruby >/dev/null; then ruby -c homebrew/Casks/lossep.rb >/dev/null; fi
