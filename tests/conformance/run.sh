#!/usr/bin/env bash
# Runs the official conformance suite against samples/everything.py; fails where a baseline does not say so.
# usage: tests/conformance/run.sh [PYTHON]; needs node and npm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${1:-$root/.venv/bin/python}
tools=$root/tests/interop
suite=$tools/node_modules/@modelcontextprotocol/conformance/dist/index.js

[ -f "$suite" ] || npm install --no-save --prefix "$tools" --no-audit --no-fund --loglevel=error
export PATH=$tools/node_modules/node/bin:$PATH # the suite needs Node 22

work=$(mktemp -d)
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$python" -m mcpconnect run "$root/samples/everything.py" --http --port "$port" --errors message 2>"$work/server.log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
    "$python" -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null && break
    sleep 0.1
done

failed=0
leg() {
    local name=$1
    shift
    echo "== conformance: $name"
    local baseline=$here/expected-$name.yml arguments=()
    [ -f "$baseline" ] && arguments=(--expected-failures "$baseline")
    node "$suite" server --url "http://127.0.0.1:$port/mcp" "$@" "${arguments[@]}" -o "$work/$name" >"$work/$name.log" 2>&1 || failed=1
    grep -E '^Total' "$work/$name.log" || true
    grep -E '(Baseline check passed|Unexpected|Stale|stale|^  ✗)' "$work/$name.log" || true
}
for revision in 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
    leg "$revision" --suite all --spec-version "$revision"
done
leg requirements-2025-11-25 --requirements 2025-11-25
leg requirements-2026-07-28 --requirements 2026-07-28

if [ "$failed" != 0 ]; then
    tail -n 60 "$work"/*.log
    echo "conformance: something is not as the baselines say"
    exit 1
fi
