"""The example client. `client --help` tells how to call it."""

import argparse
import sys
import time
from pathlib import Path

import grpc
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from table import table
from understudy.v1 import bot_service_pb2, bot_service_pb2_grpc
from understudy_client import Failure, connect

SERVICE = "understudy.v1.BotService"


def read(path):
    """A DecideRequest from protobuf JSON, as `understudy example` prints it."""
    return json_format.Parse(Path(path).read_text(), bot_service_pb2.DecideRequest())


class Client:
    def __init__(self, channel, deadline):
        self.channel, self.deadline = channel, deadline
        self.bots = bot_service_pb2_grpc.BotServiceStub(channel)

    def ask(self, request):
        """Table or failure, as text."""
        try:
            return table(self.bots.Decide(request, timeout=self.deadline))
        except grpc.RpcError as error:
            return str(Failure.of(error))

    def decide(self, *paths):
        """One decision a file."""
        for path in paths:
            print(self.ask(read(path)))

    def batch(self, *paths):
        """All files in one call; each item succeeds or fails on its own."""
        items = [read(path) for path in paths]
        reply = self.bots.BatchDecide(bot_service_pb2.BatchDecideRequest(items=items), timeout=self.deadline)
        for index, result in enumerate(reply.results):
            decided = result.WhichOneof("outcome") == "decision"
            print(f"item {index}", result.decision.move_key if decided else Failure.of_status(result.error))

    def cancel(self, path):
        """Starts a decision and changes its mind."""
        call = self.bots.Decide.future(read(path), timeout=self.deadline)
        time.sleep(0.2)
        call.cancel()
        print("cancelled", "yes" if call.cancelled() else "no")

    def steady(self, path):
        """Calls at a steady pace over one channel until it is ended from outside; a line for each."""
        request = read(path)
        while True:
            try:
                print(self.bots.Decide(request, timeout=self.deadline).move_key, flush=True)
            except grpc.RpcError as error:
                print(Failure.of(error), flush=True)
            time.sleep(0.01)

    def health(self):
        """The state now, then every change until the server leaves."""
        health = health_pb2_grpc.HealthStub(self.channel)
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        states = health_pb2.HealthCheckResponse.ServingStatus
        print("check", states.Name(health.Check(request, timeout=self.deadline).status))
        try:
            health.Check(health_pb2.HealthCheckRequest(service="nobody"), timeout=self.deadline)
        except grpc.RpcError as error:
            print("check nobody", error.code().name)
        for message in health.Watch(request):
            print("watch", states.Name(message.status), flush=True)
            if message.status != health_pb2.HealthCheckResponse.SERVING:
                break

    def services(self):
        """What reflection lists, and that it knows a message of each game. This library speaks v1alpha."""
        known = ProtoReflectionDescriptorDatabase(self.channel)
        for service in sorted(known.get_services()):
            print("service", service)
        file = known.FindFileContainingSymbol("understudy.lexio.v1.View")
        print("file", file.name)


VERBS = ("decide", "batch", "cancel", "steady", "health", "services")


def main():
    parser = argparse.ArgumentParser(prog="client")
    parser.add_argument("--deadline", type=int, default=5000, metavar="MS")
    parser.add_argument("--no-retry", action="store_true")
    parser.add_argument("--round-robin", action="store_true")
    parser.add_argument("--ca", type=Path, metavar="PEM", help="certificates to trust; turns TLS on")
    parser.add_argument("--token", type=Path, metavar="FILE", help="a file with the bearer token; needs TLS")
    parser.add_argument("target", help="host:port[,host:port]")
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("arguments", nargs="*", metavar="FILE")
    options = parser.parse_args()
    channel = connect(
        options.target,
        retry=not options.no_retry,
        round_robin=options.round_robin,
        ca=options.ca and options.ca.read_bytes(),
        token=options.token and options.token.read_text().strip(),
    )
    with channel:
        getattr(Client(channel, options.deadline / 1000), options.verb)(*options.arguments)


if __name__ == "__main__":
    sys.exit(main())
