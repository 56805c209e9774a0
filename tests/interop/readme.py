"""The README's own words: its commands and programs run as they stand, and both languages say the same."""

import json
import re
import subprocess
import sys

from harness import BIN, HERE, ROOT, WORK, Server, equal, table

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
ADDRESS = "127.0.0.1:50051"


def blocks(language, name="README.md"):
    """Code blocks in this language, in order."""
    return [text for kind, text in FENCE.findall((ROOT / name).read_text()) if kind == language]


def block(language, holding):
    """The one block that holds these words."""
    (found,) = (text for text in blocks(language) if holding in text)
    return found


class Desk:
    """A folder as a reader of the README has it before him: the tree's proto/, understudy on the PATH, a server."""

    def __init__(self, name, server):
        self.folder, self.server = WORK / "readme" / name, server
        subprocess.run(["rm", "-rf", self.folder], check=True)
        (self.folder / "bin").mkdir(parents=True)
        (self.folder / "bin/understudy").symlink_to(BIN)
        (self.folder / "bin/python").symlink_to(sys.executable)
        (self.folder / "proto").symlink_to(ROOT / "proto")

    def here(self, text):
        """The text with the address of this server."""
        return text.replace(ADDRESS, self.server.target)

    def run(self, *command):
        path = f"export PATH={self.folder}/bin:$PATH; " if command[0] == "bash" else ""
        command = [*command[:-1], path + self.here(str(command[-1]))]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        equal(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def request(self):
        """The README's first request, and the reply that the command line gives to it."""
        self.run("bash", "-c", block("sh", "grpcurl").splitlines()[0])
        return json.loads(subprocess.run([BIN, "decide", self.folder / "request.json"], capture_output=True).stdout)


def python(*_):
    """The program in Python, with code made as the README makes it, prints the move and the reasons."""
    with Server() as server:
        desk = Desk("python", server)
        reply = desk.request()
        install, generate = block("sh", "grpc_tools").splitlines()
        equal(install.startswith("pip install "), True, install)
        desk.run("bash", "-c", generate)
        lines = [reply["moveKey"]]
        for row in reply["candidates"]:
            reasons = {t["id"]: round(t["contribution"], 3) for t in row["terms"] if t.get("contribution")}
            lines.append(f"{row['rank']} {row['key']} {round(row.get('total', 0), 3)} {reasons}")
        (program,) = blocks("python")
        # In time on a machine that others use too.
        seen = desk.run(sys.executable, "-c", program.replace("timeout=0.05", "timeout=5"))
        equal(seen, "\n".join(lines) + "\n", "the table in Python")


def go(*_):
    """The program in Go compiles in tests/interop/go and prints the move and its total."""
    with Server() as server:
        desk = Desk("go", server)
        reply = desk.request()
        subprocess.run([HERE / "go/build"], check=True)
        source = HERE / "go/out/readme/main.go"
        source.parent.mkdir(parents=True, exist_ok=True)
        (program,) = blocks("go")
        source.write_text(desk.here(program).replace("50*time.Millisecond", "5*time.Second"))
        equal(subprocess.run(["gofmt", "-l", source], capture_output=True, text=True).stdout, "", "gofmt")
        subprocess.run(["go", "build", "-o", desk.folder / "program", source], check=True, cwd=HERE / "go")
        move, total = desk.run(desk.folder / "program").rsplit(" ", 1)
        equal((move, float(total)), (reply["moveKey"], reply["candidates"][0]["total"]), "move and total")


def commands(*_):
    """The calls of grpcurl, understudy and ghz."""
    with Server() as server:
        desk = Desk("commands", server)
        reply = desk.request()
        answer = json.loads(desk.run("bash", "-c", block("sh", "grpcurl")))
        equal(table(answer), table(reply), "grpcurl")
        load = block("sh", "ghz --insecure").replace("--duration 10s", "--duration 2s").replace("--rps 2000", "--rps 200")
        summary = desk.run("bash", "-c", load.replace("--timeout 50ms", "--timeout 5s"))
        equal(re.findall(r"\[(\w+)\]\s+\d+ responses", summary), ["OK"], summary)


def explained(*_):
    """The table that the README reads is the one that the command prints now."""
    text = (ROOT / "README.md").read_text()
    pair = re.compile(r"^```sh\n(understudy decide --explain .*)\n```\n\n```\n(.*?)^```$", re.M | re.S)
    command, printed = pair.search(text).groups()
    seen = subprocess.run([BIN, *command.split()[1:]], cwd=ROOT, capture_output=True, text=True).stdout
    trimmed = "\n".join(line.rstrip() for line in seen.splitlines())
    equal(trimmed, printed.rstrip("\n"), command)


def agree(*_):
    """README.md and README.ko.md: the same headings, code, tables and links, in the same order."""
    english, korean = ((ROOT / name).read_text() for name in ("README.md", "README.ko.md"))
    equal("\n".join(map(str, outline(korean))), "\n".join(map(str, outline(english))), "README.ko.md against README.md")


def outline(text):
    """What both languages share of a text, in its order; inside a line or a section a sentence may turn round."""
    parts, links = [], []
    rest = text
    while rest:
        if found := FENCE.match(rest):
            parts.append(("code", found[1], found[2]))
            rest = rest[found.end() :]
            continue
        line, _, rest = rest.partition("\n")
        if line.startswith("#"):
            parts += sorted(links)
            links = []
            parts.append(("heading", line.index(" ")))
        elif line.startswith("|"):
            parts.append(("row", line.count("|"), *sorted(re.findall(r"`[^`]+`|\d[\d,]*", line))))
        elif line.startswith("- "):
            parts.append(("item", *sorted(re.findall(r"`[^`]+`", line))))
        links += [("link", link) for link in re.findall(r"\]\(([^)]+)\)", line) if not link.startswith("README")]
    return parts + sorted(links)


CHECKS = [agree, explained, python, go, commands]
