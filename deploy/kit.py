"""What the scripts of this folder share: finding tools, starting a server on free ports, ending what was started."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

DEPLOY = pathlib.Path(__file__).resolve().parent
ROOT = DEPLOY.parent

# Where each outside tool comes from; the versions stand in .ci/tools.sh.
TOOLS = {
    "ghz": "need_ghz",
    "k6": "need_k6",
    "prometheus": "need_promtool",
    "promtool": "need_promtool",
    "helm": "need_helm",
    "hadolint": "need_hadolint",
    "compose-config": "need_compose",
    "nginx": "need_proxies",
    "haproxy": "need_proxies",
}


class Trouble(Exception):
    """Something that a person can put right: one line, exit code 2."""


def main(run):
    """Runs a script's main function; its trouble is one line on stderr."""
    try:
        sys.exit(run())
    except Trouble as trouble:
        print(f"{pathlib.Path(sys.argv[0]).name}: {trouble}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def tool(name):
    """The path of an outside tool."""
    go = os.environ.get("GOBIN") or os.path.join(os.environ.get("GOPATH") or os.path.expanduser("~/go"), "bin")
    found = shutil.which(name) or shutil.which(name, path=go)
    if not found:
        raise Trouble(f"{name} is missing; `source .ci/tools.sh && {TOOLS[name]}` installs it")
    return found


def binary(given):
    """The program to run: the one given, or a release build of this tree."""
    if given:
        path = pathlib.Path(given)
        if not path.is_file():
            raise Trouble(f"no program at {given}; `cargo build` makes target/debug/understudy")
        return str(path.resolve())
    print("building the program (cargo build --release)", file=sys.stderr)
    if subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "understudy"], cwd=ROOT).returncode:
        raise Trouble("the program does not build")
    return str(ROOT / "target/release/understudy")


def add_binary(parser):
    """The option that every script with a server has."""
    parser.add_argument("--binary", metavar="FILE", help="the program to run (default: a release build of this tree)")


def get(url, timeout=10):
    """The body of a page."""
    with urllib.request.urlopen(url, timeout=timeout) as reply:
        return reply.read().decode()


def get_json(url, **query):
    """A JSON document, asked for with these parameters; errors of the other side in words."""
    if query:
        url += "?" + urllib.parse.urlencode(query, doseq=True)
    try:
        return json.loads(get(url, timeout=30))
    except urllib.error.HTTPError as error:
        raise Trouble(f"{url}: {error.read().decode(errors='replace')[:400]}") from error


def wait_for(what, check, seconds=30):
    """Waits until `check` gives something true, and gives that."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError):
            if found := check():
                return found
        if time.monotonic() > end:
            raise Trouble(f"{what} did not happen within {seconds} s")
        time.sleep(0.1)


def free_port():
    """A port that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop(process, seconds=40):
    """Ends a process that we started, politely first; its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Trouble(f"{process.args[0]} had to be killed") from None


class Server:
    """A running understudy: `grpc` and `admin` are HOST:PORT."""

    def __init__(self, command, seconds=60):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        told = [self.process.stdout.readline() for _ in range(2)]
        found = [re.search(r" on (\S+)$", line.strip()) for line in told]
        if not all(found):
            code = self.process.wait()
            raise Trouble(f"the server did not start (exit code {code}): {' '.join(command)}")
        self.grpc, self.admin = (match.group(1) for match in found)
        wait_for("the server's readiness", lambda: get(f"http://{self.admin}/readyz"), seconds)


@contextlib.contextmanager
def serving(program, *flags):
    """A server on free ports of the loopback, drained at the end; a drain that cuts calls off is trouble."""
    ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
    delay = [] if "--drain-delay" in flags else ["--drain-delay", "0s"]
    server = Server([program, "serve", *ports, *delay, *flags])
    try:
        yield server
    except BaseException:
        server.process.kill()
        server.process.wait()
        raise
    if code := stop(server.process):
        raise Trouble(f"the server ended with exit code {code}")


def table(rows, out=None):
    """Prints rows as aligned columns: text to the left, numbers to the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    number = re.compile(r"[-+]?[\d.,]+( ?(ms|s|us|%|/s|B|MB))?")
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths)):
            right = place and all(number.fullmatch(other[place]) or other[place] in ("", "-") for other in rows[1:])
            cells.append(cell.rjust(width) if right else cell.ljust(width))
        print("  ".join(cells).rstrip(), file=out or sys.stdout)
