# Versions of the outside tools, in one place, and how each is installed when it is missing.
BUF_VERSION=1.75.0

need_buf() {
    command -v buf >/dev/null || python3 -m pip install --quiet --disable-pip-version-check "buf-bin==$BUF_VERSION"
}

need_promtool() {
    command -v promtool >/dev/null && return
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus >/dev/null
}
