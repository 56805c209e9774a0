//! The program as people and scripts meet it: exit codes, streams, and documents that fit together.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use understudy::games;

/// The program with these arguments, and this on its standard input.
fn understudy(arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_understudy"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // A program that does not read its input closes it, which is no fault of the test.
    let _ = child.stdin.take().expect("a pipe").write_all(stdin.as_bytes());
    child.wait_with_output().expect("an end")
}

fn good(arguments: &[&str], stdin: &str) -> String {
    let output = understudy(arguments, stdin);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {complaint}");
    assert_eq!(complaint, "", "{arguments:?} says something beside its answer");
    String::from_utf8(output.stdout).expect("text")
}

/// Standard error of a command that must end with this code and print nothing.
fn bad(code: i32, arguments: &[&str], stdin: &str) -> String {
    let output = understudy(arguments, stdin);
    let complaint = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {complaint}");
    assert_eq!(output.stdout, b"", "{arguments:?} prints although it fails");
    complaint
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// A reply without what differs from call to call.
fn steady(mut reply: Value) -> Value {
    let object = reply.as_object_mut().expect("a reply");
    object.remove("timing");
    object.remove("requestId");
    reply
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("understudy-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    fn with(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).expect("a scratch file");
        self.file(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn case(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/cli").join(name).to_string_lossy().into_owned()
}

#[test]
fn help_is_there_for_everything() {
    let text = good(&["--help"], "");
    for command in ["serve", "policies", "decide", "example", "diagnose", "arena", "tune", "replay", "suite", "probe"] {
        assert!(text.contains(command), "{command}");
        assert!(good(&[command, "--help"], "").contains("Usage:"), "{command}");
    }
    assert!(good(&["arena", "merge", "--help"], "").contains("FILES"));
    assert!(good(&["--version"], "").starts_with("understudy "));
}

#[test]
fn an_example_of_every_game_is_decided_the_same_twice() {
    for game in games::KEYS {
        let request = good(&["example", game, "--seed", "5"], "");
        assert_eq!(request, good(&["example", game, "--seed", "5"], ""));
        assert_ne!(request, good(&["example", game, "--seed", "6"], ""));
        let reply = steady(json(&good(&["decide", "--detail", "all"], &request)));
        assert_eq!(reply, steady(json(&good(&["decide", "-", "--detail", "all"], &request))));
        let rows = reply["candidates"].as_array().expect("rows");
        assert_eq!(rows[0]["key"], reply["moveKey"], "{game}");
        assert_eq!(reply["candidatesTotal"], rows.len(), "{game}");
        let none = steady(json(&good(&["decide", "--detail", "none"], &request)));
        assert_eq!((&none["moveKey"], none.get("candidates")), (&reply["moveKey"], None), "{game}");
        let explained = good(&["decide", "--explain"], &request);
        assert!(explained.contains(reply["moveKey"].as_str().expect("a key")), "{game}: {explained}");
        let lines = good(&["example", game, "--count", "3"], "");
        assert_eq!(lines.lines().map(json).count(), 3);
        let diagnosed = json(&good(&["diagnose", "--json"], &lines));
        assert_eq!(diagnosed["views"], 3, "{game}");
        let listed = json(&good(&["policies", game, "--json"], ""));
        let policies = listed["policies"].as_array().expect("policies");
        assert!(policies.iter().any(|policy| policy["name"] == json(&request)["policy"]), "{game}");
    }
}

#[test]
fn bad_usage_and_bad_input_are_exit_2_with_one_line_a_problem() {
    let game = games::KEYS[0];
    let request = good(&["example", game], "");
    bad(2, &["decide", "--no-such-flag"], "");
    assert!(bad(2, &["example", "chess"], "").contains("no game \"chess\"; there is"));
    assert!(bad(2, &["arena", game, "--seats", "nobody,nobody"], "").contains("no policy \"nobody\""));
    assert!(bad(2, &["arena", "wallgo", "--seats", "expert:worlds=5,random"], "").contains("takes no notice"));
    assert!(bad(2, &["example", game, "--policy", "nobody"], "").contains("no policy \"nobody\""));
    assert!(bad(2, &["decide"], "{").contains("EOF"));
    assert!(bad(2, &["decide"], "").contains("no request in it"));
    assert!(bad(2, &["decide", "--policy", "nobody"], &request).contains("no policy \"nobody\""));
    assert!(bad(2, &["decide"], "{\"polcy\": \"hard\"}").contains("polcy"));
    assert!(bad(2, &["decide", "no-such-file.json"], "").contains("no-such-file.json"));
    let two = bad(2, &["decide"], "{\"requestId\": \"a b\", \"view\": {}, \"policy\": \"easy\"}");
    assert_eq!(two.lines().count(), 2, "{two}");
    let mut view = json(&request);
    view["view"][game] = Value::Object(serde_json::Map::new());
    let empty = bad(2, &["decide"], &view.to_string());
    assert!(empty.contains(&format!("view.{game}")), "{empty}");
    assert!(bad(2, &["arena", game, "--seats", "easy,easy", "--shard", "4/4"], "").contains("4/4"));
    assert!(bad(2, &["suite", "--game", "chess"], "").contains("chess"));
    assert!(bad(2, &["replay"], "not json\n").contains("line 1"));
    let weights = format!("{game}/easy=no-such-file");
    assert!(bad(2, &["policies", "--weights", &weights], "").contains("no-such-file"));
}

#[test]
fn the_articles_rows_are_diagnosed() {
    let text = good(&["diagnose", "--table", &case("article.json")], "");
    for total in ["-4.884", "-1.028", "0.682", "0.059"] {
        assert!(text.contains(total), "{total} in {text}");
    }
    let found = json(&good(&["diagnose", "--json", "--table", &case("article.json")], ""));
    let findings = found["findings"].as_array().expect("findings");
    let has = |kind: &str, terms: &[&str]| {
        findings.iter().any(|finding| finding["finding"] == kind && finding["terms"] == serde_json::json!(terms))
    };
    assert!(has("baseline", &[]) && has("scale", &["plan"]) && has("double_counting", &["plan", "tempo"]), "{found}");
}

#[test]
fn recorded_calls_are_requests_too() {
    let request = json(&good(&["example", games::KEYS[0]], ""));
    let reply = json(&good(&["decide"], &request.to_string()));
    let record = serde_json::json!({ "request": request, "reply": reply }).to_string();
    assert_eq!(steady(json(&good(&["decide"], &record))), steady(reply));
    let both = format!("{record}\n{request}\n");
    assert_eq!(json(&good(&["diagnose", "--json"], &both))["views"], 2);
}

/// A game that several seats play, and as many seats of its easiest policy.
fn table_game() -> (&'static str, String) {
    for game in games::KEYS {
        for seats in ["easy,random,random", "easy,random"] {
            let output = understudy(&["arena", game, "--seats", seats, "--deals", "1", "--json"], "");
            if output.status.success() {
                return (game, seats.to_owned());
            }
        }
    }
    panic!("no game for the arena")
}

/// An arena document without its times.
fn numbers(text: &str) -> Value {
    let mut document = json(text);
    for policy in document["policies"].as_array_mut().expect("policies") {
        policy.as_object_mut().expect("a policy").remove("think_us");
    }
    document
}

#[test]
fn arena_documents_agree_over_threads_and_shards_and_replay() {
    let (game, seats) = table_game();
    let scratch = Scratch::new("arena");
    let records = scratch.file("games.jsonl");
    let run = |more: &[&str]| {
        let base = ["arena", game, "--seats", &seats, "--deals", "10", "--seed", "7", "--json"];
        good(&[&base[..], more].concat(), "")
    };
    let whole = numbers(&run(&["--threads", "1", "--records", &records]));
    assert_eq!(whole, numbers(&run(&["--threads", "2"])));
    for field in ["game", "rules", "seats", "deals", "rounds", "seed", "policies"] {
        assert!(!whole[field].is_null(), "{field}");
    }
    for policy in whole["policies"].as_array().expect("policies") {
        for field in ["policy", "rounds", "mean", "half_width", "win_share", "decisions", "illegal"] {
            assert!(!policy[field].is_null(), "{field} in {policy}");
        }
        assert_eq!(policy["illegal"], 0);
    }
    let mut merging = vec!["arena".to_owned(), "merge".to_owned(), "--json".to_owned()];
    for shard in ["0/4", "1/4", "2/4", "3/4"] {
        merging.push(scratch.with(&shard.replace('/', "of"), &run(&["--shard", shard])));
    }
    let merging: Vec<&str> = merging.iter().map(String::as_str).collect();
    assert_eq!(numbers(&good(&merging, "")), whole);
    assert!(bad(2, &merging[..merging.len() - 1], "").contains("shard 3/4 is missing"));

    let out = scratch.file("out.json");
    assert_eq!(run(&["--out", &out]), "", "what goes into a file is not printed");
    assert_eq!(numbers(&std::fs::read_to_string(&out).expect("a file")), whole);
    assert!(!Path::new(&format!("{out}.part")).exists());
    let nowhere = scratch.file("no/folder/out.json");
    assert!(bad(1, &["arena", game, "--seats", &seats, "--deals", "1", "--out", &nowhere], "").contains(&nowhere));

    assert!(good(&["replay", &records], "").contains("every move legal"));
    let text = std::fs::read_to_string(&records).expect("records");
    let first = text.lines().next().expect("a game");
    assert_eq!(text.lines().count() as u64, whole["rounds"].as_u64().expect("a count"));
    let mut lie = json(first);
    lie["steps"].as_array_mut().expect("steps").pop();
    assert!(bad(1, &["replay"], &format!("{lie}\n")).contains("line 1: the game is not over"));
}

#[test]
fn the_fingerprint_repeats_and_a_change_is_named() {
    let game = games::KEYS[0];
    let scratch = Scratch::new("suite");
    let text = good(&["suite", "--game", game], "");
    assert!(text.lines().any(|line| line.starts_with(&format!("{game}/easy "))), "{text}");
    let stored = scratch.with("stored", &text);
    assert_eq!(good(&["suite", "--game", game, "--check", &stored], ""), text);
    let changed = scratch.with("changed", &text.replacen(&format!("{game}/easy "), &format!("{game}/easy 0"), 1));
    let complaint = bad(1, &["suite", "--game", game, "--check", &changed], "");
    assert!(complaint.contains(&format!("+ {game}/easy")), "{complaint}");
}

/// A server on ports of its own, ended with the test.
struct Server {
    child: Child,
    address: SocketAddr,
    admin: SocketAddr,
}

impl Server {
    fn start() -> Self {
        Self::of(Command::new(env!("CARGO_BIN_EXE_understudy")))
    }

    fn of(mut program: Command) -> Self {
        let mut child = program
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-level", "error"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut address = || {
            let line = lines.next().expect("a line").expect("text");
            line.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("an address at its end")
        };
        Self { address: address(), admin: address(), child }
    }

    fn wait_until_serving(&self) {
        let admin = self.admin.to_string();
        let ready = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            understudy(&["probe", &admin], "").status.success()
        });
        assert!(ready, "not serving within five seconds");
    }

    fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.admin).expect("the admin port");
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").expect("sent");
        std::io::read_to_string(stream).expect("text")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_and_the_command_line_give_the_same_bytes() {
    let server = Server::start();
    let (address, admin) = (server.address.to_string(), server.admin.to_string());
    server.wait_until_serving();
    assert_eq!(good(&["probe", &address], ""), "SERVING\n");
    for game in games::KEYS {
        let request = good(&["example", game, "--seed", "11"], "");
        let local = steady(json(&good(&["decide", "--detail", "all"], &request)));
        let remote = steady(json(&good(&["decide", "--detail", "all", "--server", &address], &request)));
        assert_eq!(remote, local, "{game}");
    }
    let request = good(&["example", games::KEYS[0]], "");
    let unknown = bad(2, &["decide", "--policy", "nobody", "--server", &address], &request);
    assert!(unknown.contains("POLICY_UNKNOWN"), "{unknown}");
    let mut view = json(&request);
    view["view"][games::KEYS[0]] = Value::Object(serde_json::Map::new());
    let here = bad(2, &["decide"], &view.to_string());
    let there = bad(2, &["decide", "--server", &address], &view.to_string());
    assert_eq!(there.lines().next(), here.lines().next(), "the same first violation");
    drop(server);
    bad(1, &["probe", &admin], "");
    bad(1, &["decide", "--server", &address], &request);
}

/// The program under a limit of open files, as the `ulimit` of a shell sets it.
fn limited(limit: &str) -> Command {
    let mut program = Command::new("sh");
    program.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh", env!("CARGO_BIN_EXE_understudy")]);
    program
}

#[test]
fn as_many_connections_are_promised_as_there_may_be_open_files() {
    let check = |limit: &str| -> (Option<i32>, String, String) {
        let arguments = ["serve", "--check-config", "--max-connections", "300"];
        let output = limited(limit).args(arguments).output().expect("an end");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, shown, complaint) = check("-S -n 140");
    assert_eq!((code, complaint.as_str()), (Some(0), ""), "a soft limit is raised");
    assert!(shown.contains("\nmax-connections = 300\n"), "{shown}");
    let (code, shown, complaint) = check("-n 150");
    assert_eq!(code, Some(0), "{complaint}");
    assert!(shown.contains("\nmax-connections = 22\n"), "{shown}");
    assert!(complaint.contains("--max-connections 300 needs 428 open files, but the hard limit is 150"), "{complaint}");
    let (code, _, complaint) = check("-n 100");
    assert_eq!(code, Some(2), "none would be left");
    assert!(complaint.contains("the limit of open files is 100"), "{complaint}");
}

#[test]
fn a_low_soft_limit_of_open_files_costs_no_connection() {
    let server = Server::of(limited("-S -n 140"));
    server.wait_until_serving();
    let quiet: Vec<_> = (0..200).map(|_| TcpStream::connect(server.address).expect("accepted")).collect();
    // They are let go five seconds later, because they say nothing.
    let all = (0..80).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        server.metrics().contains("\nunderstudy_connections 200\n")
    });
    assert!(all, "{}", server.metrics());
    let request = good(&["example", games::KEYS[0]], "");
    good(&["decide", "--server", &server.address.to_string()], &request);
    drop(quiet);
}

#[test]
fn pipes_are_no_files_and_a_check_leaves_no_file_behind() {
    let scratch = Scratch::new("files");
    let pipe = scratch.file("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let serve = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "off", "--max-connections", "64"];
    let tls = vec!["--tls-cert", &pipe, "--tls-key", &pipe];
    for files in [vec!["--record", &pipe], vec!["--auth-tokens", &pipe], tls] {
        for check in [vec![], vec!["--check-config"]] {
            let complaint = bad(2, &[&serve[..], &files, &check].concat(), "");
            assert!(complaint.contains("a regular file") && complaint.contains(&pipe), "{complaint}");
        }
    }
    let check = |record: &str| good(&[&serve[..], &["--check-config", "--record", record]].concat(), "");
    let fresh = scratch.file("calls.jsonl");
    assert!(check(&fresh).contains(&fresh));
    assert!(!Path::new(&fresh).exists(), "nothing was recorded");
    let kept = scratch.with("kept.jsonl", "{}\n");
    check(&kept);
    assert_eq!(std::fs::read_to_string(&kept).expect("still there"), "{}\n");
    let nowhere = scratch.file("no/such/folder.jsonl");
    assert!(bad(2, &["serve", "--check-config", "--record", &nowhere], "").contains("--record"));
}

#[test]
fn boards_are_assessed_from_text_and_from_json() {
    // The board of seed 3: mean 113.5 over 16 greedy games, at 52.5575 % of the reference, three stars.
    let board = understudy::games::apple::Distribution::Sum10.board(3);
    let digits: String = board.cells().iter().map(|digit| char::from(b'0' + digit)).collect();
    let rows: Vec<&str> = (0..board.rows()).map(|row| &digits[row * board.columns()..][..board.columns()]).collect();
    let text = format!("# a comment\n{}\n\n46/28\n", rows.join("/"));
    let table = good(&["assess"], &text);
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert_eq!((lines[1][1], lines[1][2], lines[1][3], lines[1][8]), ("170", "116", "113.50", "3"));
    assert_eq!((lines[2][1], lines[2][7]), ("4", "-"), "no reference for a small board");

    let assessed: Vec<Value> = good(&["assess", "--json"], &text).lines().map(json).collect();
    assert_eq!(assessed[0]["rank"]["percentileOfMean"], 52.5575);
    assert_eq!(assessed[0]["greedyRuns"]["scores"].as_array().map(Vec::len), Some(16));
    let cells: Vec<u32> = board.cells().iter().map(|digit| u32::from(*digit)).collect();
    let request =
        serde_json::json!({ "boards": [{ "rows": board.rows(), "columns": board.columns(), "cells": cells }] });
    assert_eq!(json(&good(&["assess", "--json"], &request.to_string())), assessed[0]);
    assert_eq!(json(&good(&["assess", "--json"], &request["boards"][0].to_string())), assessed[0]);

    assert!(bad(2, &["assess"], "46/2\n").contains("line 1"));
    assert!(bad(2, &["assess", "--runs", "257"], "46/28\n").contains("runs"));
    let wrong = serde_json::json!({ "rows": 1, "columns": 2, "cells": [1, 12] });
    assert!(bad(2, &["assess"], &wrong.to_string()).contains("boards[0]"));
    let trained = json(&good(&["train", "apple-references", "--boards", "20"], ""));
    assert_eq!(trained["boards"], 20);
}
