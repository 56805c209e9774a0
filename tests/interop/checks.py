"""What every client, or every full one, must do against a real server."""

import contextlib
import json
import re
import signal
import subprocess
import sys

from harness import BIN, HERE, WORK, Server, equal, failure, port, table, until

SERVICES = [
    "grpc.health.v1.Health",
    "grpc.reflection.{version}.ServerReflection",
    "understudy.apple.v1.BoardService",
    "understudy.v1.BotService",
]



def decides(client, cases):
    """Every game: the decision, its numbers and all reasons are those of the command line."""
    with Server() as server:
        seen = client(server, "decide", *cases.good)
        equal(seen, "\n".join(map(cases.expected, cases.good)), "tables")
        equal(server.count("understudy_rpc_total", code="OK", method="Decide"), len(cases.good), "calls counted")


def errors(client, cases):
    """Every error that a request can earn, with its google.rpc details, and none of them retried."""
    with Server("--max-request-bytes", "64KiB") as server:
        expected = "\n".join(map(failure, cases.bad))
        equal(client(server, "decide", *cases.bad.values()), expected, "errors")
        equal(server.count("understudy_rejected_total"), len(cases.bad), "calls refused, each once")


def deadline(client, cases):
    """A search that could go on for most of a minute answers before the deadline of the call."""
    # More is kept back for the reply than by default: where CI runs, others may hold the cores.
    with Server("--reply-reserve", "3s", "--reply-reserve-percent", "75") as server:
        seen = client(server, "decide", cases.long, flags=["--deadline", "4000"])
        if not re.match(r"move \S+\npolicy .*, shaped by the clock\ncompletion TIME, view", seen):
            raise AssertionError(seen)


def late(client, cases):
    """Nobody free before the time is up: DEADLINE_EXCEEDED from the server, with its stage."""
    # Most of the time is kept back for the reply, so that the server ends the call and not the client's clock.
    with Server("--workers", "1", "--reply-reserve", "7s", "--reply-reserve-percent", "90") as server:
        with server.held(cases.long):
            seen = client(server, "decide", cases.good[3], flags=["--deadline", "8000"])
        equal(re.sub(r"(waited_us|budget_us) = \d+", r"\1 = N", seen), failure("late"), "late")


def retries(client, cases):
    """A refusal says when to come back; the client comes back then and not before."""
    with Server("--max-in-flight", "1") as server:
        with server.held(cases.long):
            seen = client(server, "decide", cases.quick, flags=["--no-retry"])
            equal(seen, failure("in-flight"), "the refusal itself")
        before = server.count("understudy_rejected_total")
        with server.held(cases.long):
            process = client.start(server, "decide", cases.quick)
            until(lambda: server.count("understudy_rejected_total") > before, "the call is refused")
        equal(client.end(process), cases.expected(cases.quick), "a call that was refused at first")
        again = server.moments("IN_FLIGHT")[before:]
        waits = [round((b - a) * 1000) for a, b in zip(again, again[1:])]
        if any(wait < 49 for wait in waits):
            raise AssertionError(f"came back after {waits} ms, though each refusal says 50")


def unwell(client, cases):
    """What a healthy server does not say on demand, from a stand-in; and nobody there at all."""
    stand_in = subprocess.Popen([sys.executable, HERE / "stand_in.py"], stdout=subprocess.PIPE, text=True)
    try:
        target = f"127.0.0.1:{stand_in.stdout.readline().strip()}"
        equal(client(target, "decide", *[cases.quick] * 4, flags=["--no-retry"]), failure("unwell"), "errors")
    finally:
        stand_in.kill()
        stand_in.wait()
    seen = client(f"127.0.0.1:{port()}", "decide", cases.quick, flags=["--no-retry"])
    if not seen.startswith("error UNAVAILABLE -: "):
        raise AssertionError(seen)


def health(client, cases):
    """Check, and Watch until the server leaves."""
    with Server("--drain-delay", "500ms") as server:
        process = client.start(server, "health")
        lines = [process.stdout.readline().strip() for _ in range(3)]
        server.process.send_signal(signal.SIGTERM)
        lines.append(client.end(process))
        equal(lines, ["check SERVING", "check nobody NOT_FOUND", "watch SERVING", "watch NOT_SERVING"], "health")


def spreads(client, cases):
    """Round robin gives each of two replicas its share."""
    with Server() as one, Server() as two:
        with client.steady(f"{one.target},{two.target}", cases, "--round-robin"):
            until(lambda: one.decided() + two.decided() >= 100, "a hundred calls")
        shares = one.decided(), two.decided()
        if min(shares) < sum(shares) // 3:
            raise AssertionError(f"shares {shares}")


def batch(client, cases):
    """A hundred decisions in one call, three of them bad: 97 answers, and three errors where they belong."""
    items = [cases.good[i % 2 * 4] for i in range(100)]
    bad = {7: "view", 50: "request", 99: "view"}
    for index, name in bad.items():
        items[index] = cases.bad[name]
    moves = {path: cases.move(path) for path in {*items} - {*cases.bad.values()}}
    expected = [f"item {i} {failure(bad[i]) if i in bad else moves[path]}" for i, path in enumerate(items)]
    with Server() as server:
        equal(client(server, "batch", *items), "\n".join(expected), "batch")


def cancel(client, cases):
    """A cancelled call stops the search it asked for."""
    with Server("--workers", "1") as server:
        process = client.start(server, "cancel", cases.long)
        until(lambda: server.count("understudy_workers_busy") == 1, "the search runs")
        equal(client.end(process), "cancelled yes", "cancel")
        until(lambda: server.count("understudy_workers_busy") == 0, "the worker is free", 5.0)
        equal(server.count("understudy_jobs_total", end="cancelled"), 1, "cancelled jobs")


def reflection(client, cases):
    """The services and files that reflection knows, in both of its versions: Go speaks v1, Python v1alpha."""
    version = {"go": "v1", "python": "v1alpha"}[client.language]
    with Server() as server:
        lines = [f"service {name.format(version=version)}" for name in SERVICES]
        lines.append("file understudy/lexio/v1/lexio.proto")
        equal(client(server, "services"), "\n".join(lines), "services")


def secure(client, cases):
    """TLS with a private authority, and a bearer token: right, wrong, none; a server nobody vouches for."""
    keys = WORK / "keys"
    make_keys(keys)
    tls = ["--tls-cert", keys / "server.pem", "--tls-key", keys / "server.key", "--auth-tokens", keys / "tokens"]
    with Server(*map(str, tls)) as server:
        target = server.target.replace("127.0.0.1", "localhost")
        right = ["--ca", keys / "ca.pem", "--token", keys / "right"]
        equal(client(target, "decide", cases.quick, flags=right), cases.expected(cases.quick), "the right token")
        denied = "error UNAUTHENTICATED UNAUTHENTICATED: missing or wrong token"
        for other in (["--token", keys / "wrong"], []):
            seen = client(target, "decide", cases.quick, flags=["--ca", keys / "ca.pem", *other])
            equal(seen, denied, "without the right token")
        stranger = ["--ca", keys / "other.pem", "--token", keys / "right", "--no-retry", "--deadline", "2000"]
        seen = client(target, "decide", cases.quick, flags=stranger)
        if not seen.startswith("error UNAVAILABLE -: "):
            raise AssertionError(f"a certificate of another authority: {seen}")


def ages(client, cases):
    """Connections that are told to go (GOAWAY) several times cost no call."""
    with Server("--max-connection-age", "300ms", "--max-connection-age-grace", "2s") as server:
        with client.steady(server.target, cases, "--no-retry"):
            until(lambda: server.count("understudy_connections_total") >= 5, "five connections have gone")


def restarts(client, cases):
    """Two replicas restart in turn; a client with round robin and retries loses nothing."""
    ports = port(), port()
    flags = "--drain-delay", "1s"
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(*flags, port=port)) for port in ports]
        with client.steady(",".join(server.target for server in servers), cases, "--round-robin"):
            for index in (0, 1, 0):
                # As a rolling restart goes: the next one leaves when all are in use (again).
                for server in servers:
                    until(lambda: server.decided() > 20, "both are in use")
                servers[index].leave()
                servers[index] = stack.enter_context(Server(*flags, port=ports[index]))
            until(lambda: servers[0].decided() > 20, "the last is in use")


def grpcurl(_, cases):
    """grpcurl learns the schema by reflection (v1) and makes the call of the README."""
    with Server() as server:

        def call(*arguments, **how):
            command = ["grpcurl", "-plaintext", "-max-time", "5", *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True, **how).stdout

        equal(call(server.target, "list").split(), [name.format(version="v1") for name in SERVICES], "services")
        described = call(server.target, "describe", "understudy.v1.Budget")
        equal("optional uint32 max_worlds = 3;" in described, True, described)
        for path in cases.good:
            reply = call("-d", "@", server.target, "understudy.v1.BotService/Decide", input=path.read_text())
            equal(table(json.loads(reply)), cases.expected(path), path.name)


def health_probe(_, cases):
    """grpc-health-probe on both ports: 0 while the server serves, not 0 once it drains."""
    with Server("--drain-delay", "2s") as server:

        def probe(address, *arguments):
            return subprocess.run(["grpc-health-probe", "-addr", address, *arguments], capture_output=True).returncode

        for address in server.target, server.admin:
            equal(probe(address), 0, address)
            equal(probe(address, "-service", "understudy.v1.BotService"), 0, address)
            equal(probe(address, "-service", "nobody") != 0, True, "an unknown service")
        server.process.send_signal(signal.SIGTERM)
        until(lambda: server.get("readyz") is None, "it drains")
        equal([probe(address) != 0 for address in (server.target, server.admin)], [True, True], "while it drains")


def make_keys(folder):
    """A certificate authority, a server certificate for localhost, another authority, and tokens."""
    folder.mkdir(exist_ok=True)

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=folder)

    new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    for name in ("ca", "other"):
        openssl(*new, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
    server = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    server += ["-addext", "basicConstraints=critical,CA:FALSE", "-CA", "ca.pem", "-CAkey", "ca.key"]
    openssl(*new, *server, "-keyout", "server.key", "-out", "server.pem")
    (folder / "right").write_text("a-token-for-the-interop-tests\n")
    (folder / "wrong").write_text("a-token-nobody-has-heard-of\n")
    (folder / "tokens").write_text("interop a-token-for-the-interop-tests\n")


EVERYWHERE = [decides, errors, deadline, late, retries, unwell, health, spreads, secure]
FULL = [batch, cancel, reflection, ages, restarts]
CHECKS = {
    "tools": [grpcurl, health_probe],
    "go": EVERYWHERE + FULL,
    "python": EVERYWHERE + FULL,
    "node": EVERYWHERE,
    "java": EVERYWHERE,
    "cpp": EVERYWHERE,
}
