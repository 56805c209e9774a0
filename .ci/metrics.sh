#!/usr/bin/env bash
# Starts the server, makes a few calls, and has promtool read /metrics. Set BIN to a built binary; default: the debug one.
set -euo pipefail
bin=${BIN:-target/debug/understudy}
out=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$out"' EXIT
"$bin" serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --log-format json >"$out/ports" 2>"$out/log" &
server=$!
for _ in $(seq 100); do
    grpc=$(sed -n 's/^listening on //p' "$out/ports")
    admin=$(sed -n 's/^admin on //p' "$out/ports")
    [ -n "$admin" ] && [ -n "$grpc" ] && curl -fsS "http://$admin/readyz" >/dev/null 2>&1 && break
    sleep 0.1
done
"$bin" example lexio --seed 1 | "$bin" decide --server "http://$grpc" - >/dev/null
curl -fsS "http://$admin/metrics" | promtool check metrics
kill -TERM "$server"
wait "$server"
