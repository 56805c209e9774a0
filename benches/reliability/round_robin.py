"""An open-loop grpcio client over both replicas: round_robin over those whose health is SERVING, one retry on
UNAVAILABLE, nothing else.

usage: round_robin.py MESSAGES TARGET RATE SECONDS
MESSAGES holds requests, each behind its length as four bytes. Prints one JSON object.
"""

import asyncio
import collections
import json
import struct
import sys

import grpc

SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    # The client watches health: a replica that starts or leaves gets no calls.
    "healthCheckConfig": {"serviceName": "understudy.v1.BotService"},
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 2,
                "initialBackoff": "0.05s",
                "maxBackoff": "0.05s",
                "backoffMultiplier": 1,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}


def read(path):
    data = open(path, "rb").read()
    messages = []
    while data:
        (length,) = struct.unpack(">I", data[:4])
        messages.append(data[4 : 4 + length])
        data = data[4 + length :]
    return messages


async def main(path, target, rate, seconds):
    messages = read(path)
    options = [
        # Its own authority would be the whole list of addresses, which is no authority.
        ("grpc.default_authority", "localhost"),
        ("grpc.service_config", json.dumps(SERVICE_CONFIG)),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
    ]
    codes = collections.Counter()
    async with grpc.aio.insecure_channel(target, options=options) as channel:
        decide = channel.unary_unary("/understudy.v1.BotService/Decide")

        async def call(message):
            try:
                await decide(message, timeout=3)
                codes["OK"] += 1
            except grpc.aio.AioRpcError as error:
                codes[f"{error.code().name}: {error.details()}"[:120]] += 1

        await channel.channel_ready()
        loop = asyncio.get_running_loop()
        start, due, calls = loop.time(), int(rate * seconds), []
        for n in range(due):
            await asyncio.sleep(max(0.0, start + n / rate - loop.time()))
            calls.append(asyncio.create_task(call(messages[n % len(messages)])))
        await asyncio.gather(*calls)
    print(json.dumps({"due": due, "failed": due - codes["OK"], "codes": codes}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
