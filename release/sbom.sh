#!/usr/bin/env bash
# The bill of materials of a program (CycloneDX): the modules that its build information names,
# with their versions and checksums. sbom.sh PROGRAM DOCUMENT
set -euo pipefail
go version -m "$1" | awk -v version="$LOSSEP_VERSION" '
  function component(kind, name, version) {
    return sprintf("{\"type\": \"%s\", \"bom-ref\": \"pkg:golang/%s@%s\", \"name\": \"%s\", \"version\": \"%s\", \"purl\": \"pkg:golang/%s@%s\"", kind, name, version, name, version, name, version)
  }
  NR == 1 { go = $NF; sub(/^go/, "", go) }
  $1 == "mod" { own = component("application", $2, version) "}" }
  $1 == "dep" { parts[++n] = component("library", $2, $3) ($4 == "" ? "" : ", \"properties\": [{\"name\": \"go:sum\", \"value\": \"" $4 "\"}]") "}" }
  END {
    if (own == "" || n == 0) { print "no build information" > "/dev/stderr"; exit 1 }
    print "{\"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.6\", \"version\": 1,"
    print " \"metadata\": {\"component\": " own "},"
    print " \"components\": ["
    print "  " component("library", "std", go) "},"
    for (i = 1; i <= n; i++) print "  " parts[i] (i < n ? "," : "")
    print " ]}"
  }' >"$2"
