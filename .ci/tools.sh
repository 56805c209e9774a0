# Versions of the outside tools, in one place, and how each is installed when it is missing.
BUF_VERSION=1.75.0
GRPCIO_VERSION=1.85.1

need_buf() {
    command -v buf >/dev/null || python3 -m pip install --quiet --disable-pip-version-check "buf-bin==$BUF_VERSION"
}

need_promtool() {
    command -v promtool >/dev/null && return
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus >/dev/null
}

# Packages of Debian, only where a command is missing: need_debian COMMAND PACKAGE
need_debian() {
    command -v "$1" >/dev/null && return
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
}

need_proxies() {
    need_debian nginx nginx-light
    need_debian haproxy haproxy
}

need_grpcio() {
    python3 -c 'import grpc' 2>/dev/null ||
        python3 -m pip install --quiet --disable-pip-version-check "grpcio==$GRPCIO_VERSION"
}
