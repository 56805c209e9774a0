"""A real server, requests with what must come of them, and a client of any language as a program."""

import contextlib
import difflib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = os.environ.get("BIN") or str(ROOT / "target/debug/understudy")
WORK = ROOT / "target/interop"
NUMBERS = itertools.count(1)


class Server:
    """`understudy serve` on free ports, until the block ends."""

    def __init__(self, *flags, port=0):
        self.flags, self.port = flags, port

    def __enter__(self):
        ports = ["--listen", f"127.0.0.1:{self.port}", "--admin-listen", "127.0.0.1:0", "--max-think", "60s"]
        self.log = WORK / f"server-{next(NUMBERS)}.log"
        command = [BIN, "serve", *ports, "--log-format", "json", *self.flags]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        lines = [self.process.stdout.readline().strip() for _ in range(2)]
        self.target, self.admin = (line.rsplit(" ", 1)[1] for line in lines)
        until(lambda: self.get("readyz"), "the server is ready")
        return self

    def __exit__(self, *_):
        self.process.kill() if self.process.poll() is None else None
        self.process.wait()

    def get(self, path):
        try:
            return urllib.request.urlopen(f"http://{self.admin}/{path}", timeout=5).read().decode()
        except OSError:
            return None

    def count(self, name, **labels):
        """The sum of a metric's series that have these labels."""
        total = 0.0
        for line in self.get("metrics").splitlines():
            series, _, value = line.rpartition(" ")
            if series.partition("{")[0] == name and all(f'{k}="{v}"' in series for k, v in labels.items()):
                total += float(value)
        return int(total)

    def decided(self):
        return self.count("understudy_rpc_total", method="Decide", code="OK")

    @contextlib.contextmanager
    def held(self, request):
        """While a search that would go on for most of a minute runs, asked for by somebody else."""
        holder = subprocess.Popen([BIN, "decide", "--server", self.target, request], stdout=subprocess.DEVNULL)
        try:
            until(lambda: self.count("understudy_workers_busy") == 1, "the search runs")
            yield
        finally:
            holder.kill()
            holder.wait()
            until(lambda: self.count("understudy_in_flight") == 0, "its place is free")

    def moments(self, reason):
        """When calls were refused for this reason, in seconds, as the log has it."""
        lines = map(json.loads, self.log.read_text().splitlines())
        return [datetime.fromisoformat(line["ts"]).timestamp() for line in lines if line.get("reason") == reason]

    def leave(self):
        """SIGTERM, as a restart does it; the server finishes what it has."""
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(30), 0, "exit code of a drained server")


def until(holds, what, patience=60.0):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError(f"not in {patience} s: {what}")


def equal(seen, expected, what):
    if seen != expected:
        texts = str(expected).splitlines(), str(seen).splitlines()
        lines = difflib.unified_diff(*texts, "expected", "seen", lineterm="")
        raise AssertionError("\n".join([what, *list(lines)[:40]]))


def understudy(*arguments):
    return subprocess.run([BIN, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Cases:
    """Requests as files, and for each the text that every client must print."""

    def __init__(self):
        self.folder = WORK / "cases"
        self.folder.mkdir(parents=True, exist_ok=True)
        golden = json.loads((ROOT / "tests/cases/lexio/golden-request.json").read_text())
        self.good = [self.write("golden", golden)]
        budgets = {"lexio/expert": {"maxWorlds": 20}, "hoola/hard": {}, "wallgo/normal": {"maxNodes": 2000}}
        budgets |= {"lexio/easy": {}, "wallgo/easy": {}, "apple/normal": {}, "apple/expert": {"maxNodes": 3000}}
        for policy, budget in budgets.items():
            game, name = policy.split("/")
            request = json.loads(understudy("example", game, "--seed", 7, "--policy", name))
            request |= {"seed": "18446744073709551615"} if budget else {"detail": "DETAIL_ALL"}
            self.good.append(self.write(f"{game}-{name}", request | ({"budget": budget} if budget else {})))
        self.quick = self.good[0]
        self.long = self.write("long", self.example("hoola", "expert") | {"budget": {"maxTimeUs": 50_000_000}})

        view = json.loads(json.dumps(golden))
        view["view"]["lexio"]["hand"][3] = 61
        view["view"]["lexio"]["seats"][2]["tile_count"] = 13
        apple = self.example("apple", "normal")
        board = apple["view"]["apple"]["board"] if "board" in apple["view"]["apple"] else apple["view"]["apple"]
        board["cells"] = [9] * len(board["cells"])
        around = {"requestId": "two words", "view": None, "budget": {"maxNodes": 0}}
        self.bad = {
            "view": self.write("bad-view", view),
            "request": self.write("bad-request", self.example("lexio", "hard") | around),
            "policy": self.write("bad-policy", golden | {"policy": "clairvoyant"}),
            "version": self.write("bad-version", golden | {"policy": "hard@9"}),
            "nothing": self.write("nothing", apple),
            "large": self.write("large", golden | {"requestId": "x" * 100_000}),
        }

    def example(self, game, policy):
        return json.loads(understudy("example", game, "--seed", 7, "--policy", policy))

    def write(self, name, request):
        """Protobuf JSON in lowerCamelCase, which every reader takes; not all take the snake_case of the golden file."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(camel(request)))
        return path

    def expected(self, path):
        """The same table from `understudy decide`."""
        return table(json.loads(understudy("decide", path)))

    def move(self, path):
        """The move alone."""
        return self.expected(path).splitlines()[0].removeprefix("move ")


def camel(value):
    """Protobuf JSON with its keys in lowerCamelCase."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if isinstance(value, dict):
        return {re.sub("_(.)", lambda found: found[1].upper(), key): camel(item) for key, item in value.items()}
    return value


def table(reply):
    """A DecideResponse as protobuf JSON, in the clients' words."""

    def number(value):
        text = f"{value:.9f}"
        return "0.000000000" if text == "-0.000000000" else text

    effective, rows = reply["effective"], reply.get("candidates", [])
    lines = [
        f"move {reply['moveKey']}",
        f"policy {effective['policy']}, weights {effective.get('weightsHash', '-')}, seed {effective['seed']}, "
        + ("repeatable" if effective.get("deterministic") else "shaped by the clock"),
        f"completion {reply['completion'].removeprefix('COMPLETION_')}, view {reply['viewHash']}",
        f"{len(rows)} of {reply['candidatesTotal']} candidates",
    ]
    for row in rows:
        verdict, bound = row["standing"]["verdict"].removeprefix("VERDICT_"), row["bound"].removeprefix("BOUND_")
        lines.append(f"{row['rank']} {row['key']} {verdict} {bound} {number(row.get('total', 0))}")
        for term in row.get("terms", []):
            value, weight, product = (number(term.get(key, 0)) for key in ("value", "weight", "contribution"))
            lines.append(f"  {term['id']} {value} x {weight} = {product}")
        if payoff := row.get("payoff"):
            mean, margin = number(payoff.get("mean", 0)), number(payoff.get("standardError", 0))
            lines.append(f"  payoff {mean} +- {margin} {payoff['unit']}, {payoff.get('samples', 0)} samples")
        if row.get("barred"):
            lines.append(f"  barred {row['barred']}")
    return "\n".join(lines)


def failure(name):
    """An error as every client prints it."""
    return (HERE / "errors" / f"{name}.txt").read_text().rstrip("\n")


class Client:
    """One language's client."""

    def __init__(self, language):
        self.language = language
        self.program = HERE / language / "client"

    def start(self, server, verb, *arguments, flags=()):
        target = server if isinstance(server, str) else server.target
        # Patience for a machine that others use too; a check of deadlines gives its own behind it, and the last holds.
        command = [self.program, "--deadline", "30000", *flags, target, verb, *arguments]
        return subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def end(self, process):
        out, err = process.communicate(timeout=60)
        if process.returncode != 0:
            raise AssertionError(f"{process.args} ended with {process.returncode}\n{out}\n{err}")
        return out.rstrip("\n")

    @contextlib.contextmanager
    def steady(self, target, cases, *flags):
        """Calls at a steady pace while the block runs. Every one of them must get its move."""
        lines = WORK / "steady.txt"
        command = [self.program, "--deadline", "30000", *flags, target, "steady", cases.quick]
        with lines.open("w") as out:
            process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=out)
        try:
            yield
            equal(process.poll(), None, "it goes on")
        finally:
            process.kill()
            process.wait()
        move = cases.move(cases.quick)
        wrong = [line for line in lines.read_text().split("\n")[:-1] if line != move]
        equal("\n".join(wrong[:9]), "", "calls that failed")

    def __call__(self, server, verb, *arguments, flags=()):
        return self.end(self.start(server, verb, *arguments, flags=flags))
