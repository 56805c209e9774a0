"""understudy from Python: one channel, deadlines, retries by service config, errors that a program can read."""

import json
from dataclasses import dataclass, field
from datetime import timedelta

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

SERVICES = ("understudy.v1.BotService", "understudy.apple.v1.BoardService")

# Both codes come with RetryInfo and with the trailer grpc-retry-pushback-ms, which the library obeys instead of its own
# backoff. Nothing else is worth a retry: it would repeat the answer.
RETRY = {
    "maxAttempts": 5,
    "initialBackoff": "0.05s",
    "maxBackoff": "1s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
}


def connect(target, *, retry=True, round_robin=False, ca=None, token=None):
    """A channel. Make one and keep it: it reconnects by itself and carries as many calls at once as you like.

    `target` is `host:port`, `dns:///name:port`, or `host:port,host:port` for replicas known by address.
    """
    config = {}
    if retry:
        config["methodConfig"] = [{"name": [{"service": name} for name in SERVICES], "retryPolicy": RETRY}]
        # A server in trouble is not helped by more calls: below half of the tokens nothing is retried.
        config["retryThrottling"] = {"maxTokens": 100, "tokenRatio": 0.1}
    if round_robin:
        config["loadBalancingConfig"] = [{"round_robin": {}}]
        # Replicas that start or leave say NOT_SERVING and get no calls.
        config["healthCheckConfig"] = {"serviceName": SERVICES[0]}
    options = [
        ("grpc.service_config", json.dumps(config)),
        ("grpc.enable_retries", 1 if retry else 0),
        # A server that restarts is back within a second; the default waits longer and longer, up to two minutes.
        ("grpc.max_reconnect_backoff_ms", 1000),
        # A table of reasons can be larger than the 4 MiB that a client takes by default.
        ("grpc.max_receive_message_length", 16 << 20),
    ]
    if "," in target:
        options.append(("grpc.default_authority", "localhost"))  # else the whole list is the authority
        target = "ipv4:" + target
    call_credentials = grpc.access_token_call_credentials(token) if token else None
    if ca:
        credentials = grpc.ssl_channel_credentials(root_certificates=ca)
        if call_credentials:
            credentials = grpc.composite_channel_credentials(credentials, call_credentials)
        return grpc.secure_channel(target, credentials, options)
    if token:
        raise ValueError("a token without TLS can be read by anybody on the way")
    return grpc.insecure_channel(target, options)


@dataclass
class Failure:
    """An error of understudy, decoded from the google.rpc details of a status."""

    code: str
    message: str
    reason: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    violations: list[tuple[str, str]] = field(default_factory=list)
    retry_after: timedelta | None = None

    @classmethod
    def of(cls, error: grpc.RpcError) -> "Failure":
        """What the exception of a call says."""
        failure = cls(error.code().name, error.details() or "")
        status = rpc_status.from_call(error)
        return failure._read(status.details) if status else failure

    @classmethod
    def of_status(cls, status) -> "Failure":
        """What a google.rpc.Status says, as it stands in a batch."""
        (name,) = (code.name for code in grpc.StatusCode if code.value[0] == status.code)
        return cls(name, status.message)._read(status.details)

    def _read(self, details) -> "Failure":
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        retry = error_details_pb2.RetryInfo()
        for detail in details:
            if detail.Unpack(info):
                self.reason, self.metadata = info.reason, dict(info.metadata)
            elif detail.Unpack(bad):
                self.violations = [(violation.field, violation.description) for violation in bad.field_violations]
            elif detail.Unpack(retry):
                self.retry_after = retry.retry_delay.ToTimedelta()
        return self

    def __str__(self):
        lines = [f"error {self.code} {self.reason or '-'}: {self.message}"]
        lines += [f"  {path}: {rule}" for path, rule in self.violations]
        lines += [f"  {key} = {value}" for key, value in sorted(self.metadata.items())]
        if self.retry_after is not None:
            lines.append(f"  retry after {self.retry_after // timedelta(milliseconds=1)} ms")
        return "\n".join(lines)
