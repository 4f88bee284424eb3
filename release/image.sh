#!/usr/bin/env bash
# An image as an OCI archive: the static binary on nothing else, run by a user without rights.
# There is no base to be fetched, so neither a shell nor certificates are in it; podman load, skopeo
# and "docker load" of recent versions read it.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1#*/}
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' summary.go)
created=$(git log -1 --format=%cI)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root layout=$work/layout
mkdir -p "$root/usr/bin" "$root/etc" "$root/tmp" "$root/work" "$layout/blobs/sha256"
chmod 1777 "$root/tmp" "$root/work"
mkdir "$work/archive"
tar -xzf "release/dist/lossep_${version}_linux_$arch.tar.gz" -C "$work/archive" lossep
install -m 0755 "$work/archive/lossep" "$root/usr/bin/lossep"
echo 'nonroot:x:65532:65532:nonroot:/work:/sbin/nologin' >"$root/etc/passwd"
echo 'nonroot:x:65532:' >"$root/etc/group"

plain_tar() { tar --sort=name --mtime="$created" --owner=0 --group=0 --numeric-owner --format=ustar -C "$1" -cf "$2" .; }
digest() { sha256sum "$1" | cut -d' ' -f1; }
blob() { # moves a file to its place and says what it is called and how long it is
  local name size
  name=$(digest "$1") size=$(stat -c %s "$1")
  mv "$1" "$layout/blobs/sha256/$name"
  printf '"digest": "sha256:%s", "size": %s' "$name" "$size"
}

plain_tar "$root" "$work/layer.tar"
diff_id=$(digest "$work/layer.tar")
gzip -n -9 "$work/layer.tar"
layer=$(blob "$work/layer.tar.gz")
cat >"$work/config.json" <<JSON
{"architecture": "$arch", "os": "linux", "created": "$created",
 "config": {"User": "65532:65532", "Entrypoint": ["/usr/bin/lossep"], "WorkingDir": "/work", "ExposedPorts": {"8080/tcp": {}},
  "Labels": {"org.opencontainers.image.title": "lossep", "org.opencontainers.image.version": "$version", "org.opencontainers.image.licenses": "Apache-2.0"}},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$diff_id"]}}
JSON
config=$(blob "$work/config.json")
cat >"$work/manifest.json" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
 "config": {"mediaType": "application/vnd.oci.image.config.v1+json", $config},
 "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", $layer}]}
JSON
manifest=$(blob "$work/manifest.json")
cat >"$layout/index.json" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
 "manifests": [{"mediaType": "application/vnd.oci.image.manifest.v1+json", $manifest,
  "platform": {"architecture": "$arch", "os": "linux"}, "annotations": {"org.opencontainers.image.ref.name": "lossep:$version"}}]}
JSON
echo '{"imageLayoutVersion": "1.0.0"}' >"$layout/oci-layout"
plain_tar "$layout" "release/dist/lossep_${version}_linux_${arch}_image.tar"
