"""A server without mcpconnect, that behaves as its first argument says."""

import json
import signal
import sys
import time

mode = sys.argv[1]


def answer(request: dict, result: dict) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if mode == "dies":
    sys.exit(3)
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        if mode == "chatty":
            print("Welcome to my server!", flush=True)
        info = {"name": "raw", "version": "1"}
        answer(request, {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": info})
    elif method == "ping":
        if mode == "dies-later":
            sys.exit(4)
        answer(request, {})
    elif method == "tools/call":
        text = request["params"]["arguments"]["text"]
        answer(request, {"content": [{"type": "text", "text": text}]})

while mode in ("deaf", "stubborn"):  # its input has ended, and it does not care
    time.sleep(0.05)
