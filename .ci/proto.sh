#!/usr/bin/env bash
# The protocol: lint, and no change that breaks a client of any version so far.
#
# tests/cases/proto holds one image a version: first.binpb as the first version landed, then VERSION.binpb for every
# version that has a heading in CHANGELOG.md. When a version lands, its heading and its image go into the same commit:
#
#   .ci/proto.sh keep 0.2.0
#
# An image is never replaced: what it holds is what somebody's generated code was made from.
set -euo pipefail
cd "$(dirname "$0")/.."
images=tests/cases/proto

if [ "${1-}" = keep ]; then
    image=$images/${2:?which version? .ci/proto.sh keep VERSION}.binpb
    [ ! -e "$image" ] || { echo "$image is there already and stays as it is" >&2; exit 1; }
    (cd proto && buf build --exclude-source-info -o "../$image")
    exit
fi

(cd proto && buf lint)
for version in first $(sed -nE 's/^## \[?v?([0-9]+\.[0-9]+\.[0-9]+).*/\1/p' CHANGELOG.md); do
    image=$images/$version.binpb
    [ -e "$image" ] || { echo "CHANGELOG.md names $version but there is no $image: .ci/proto.sh keep $version" >&2; exit 1; }
    (cd proto && buf breaking --against "../$image")
    echo "nothing breaks clients of $version"
done
