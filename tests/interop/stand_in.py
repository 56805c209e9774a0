"""Stands in for a server that is not well: what a healthy one does not say on demand, in the order of the calls.

Prints its port. The statuses are those of src/service/status.rs.
"""

import itertools
from concurrent import futures

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status


def status(code, reason, message, *, retry_ms=None, **metadata):
    details = [error_details_pb2.ErrorInfo(reason=reason, domain="understudy", metadata=metadata)]
    if retry_ms:
        delay = duration_pb2.Duration(nanos=retry_ms * 1_000_000)
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    packed = [any_pb2.Any() for _ in details]
    for box, detail in zip(packed, details):
        box.Pack(detail)
    return rpc_status.to_status(status_pb2.Status(code=code.value[0], message=message, details=packed))


SAYINGS = itertools.cycle([
    status(grpc.StatusCode.UNAVAILABLE, "STARTING", "not serving yet", retry_ms=200),
    status(grpc.StatusCode.UNAVAILABLE, "DRAINING", "going away; the call was not started", retry_ms=50),
    status(
        grpc.StatusCode.INTERNAL, "BUG", "a bug of ours; the request id finds it in the log", request_id="0123abcd-7"
    ),
    # No understudy, but a proxy before it.
    rpc_status.to_status(status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message="bad gateway")),
])


class Unwell(grpc.GenericRpcHandler):
    def service(self, call):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: context.abort_with_status(next(SAYINGS)))


if __name__ == "__main__":
    server = grpc.server(futures.ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers([Unwell()])
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()
