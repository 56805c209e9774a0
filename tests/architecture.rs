//! The shape of the crate, read off its source: which way the arrows point, who may name what, and that a game is named
//! nowhere but in its own folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use understudy::games;

/// Every file under `src/`, by its path there, without comments.
fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    collect(&root, &root, &mut found);
    assert!(found.len() > 30, "the source is missing");
    found
}

fn collect(root: &Path, dir: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).expect("a folder of the source") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            found.insert(name, code(&fs::read_to_string(&path).expect("readable source")));
        }
    }
}

/// A file without its comment lines and trailing comments.
fn code(text: &str) -> String {
    let line = |line: &str| match line.trim_start().starts_with("//") {
        true => String::new(),
        false => line.split(" // ").next().unwrap_or_default().to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The layer of a file.
fn layer(file: &str) -> &str {
    file.split('/').next().filter(|_| file.contains('/')).unwrap_or("")
}

/// Whether `text` names `word` as a whole word.
fn names(text: &str, word: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).map(|at| text.as_bytes()[at]);
        let after = text.as_bytes().get(at + word.len()).copied();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn offenders(found: &BTreeMap<String, String>, wrong: impl Fn(&str, &str) -> bool) -> Vec<String> {
    found.iter().filter(|(file, text)| wrong(file, text)).map(|(file, _)| file.clone()).collect()
}

#[test]
fn arrows_go_one_way() {
    let found = sources();
    let forbidden: [(&str, &[&str]); 4] = [
        ("bot", &["games", "arena", "service", "cli"]),
        ("games", &["arena", "service", "cli"]),
        ("arena", &["service", "cli"]),
        ("service", &["arena", "cli"]),
    ];
    for (from, to) in forbidden {
        let wrong = offenders(&found, |file, text| {
            layer(file) == from && to.iter().any(|to| text.contains(&format!("crate::{to}")))
        });
        assert_eq!(wrong, Vec::<String>::new(), "{from} may not use {to:?}");
    }
}

#[test]
fn the_kernel_and_the_games_touch_no_outside_world() {
    let outside = ["tokio", "tonic", "tracing", "axum", "hyper", "rand", "HashMap", "HashSet", "RandomState"];
    let wrong = offenders(&sources(), |file, text| {
        let inside = matches!(layer(file), "bot" | "games");
        inside
            && (outside.iter().any(|word| names(text, word)) || text.contains("std::fs") || text.contains("std::net"))
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn only_the_budget_and_the_service_read_a_clock() {
    let wrong = offenders(&sources(), |file, text| {
        let may = file == "bot/budget.rs" || matches!(layer(file), "service" | "cli");
        !may && ["Instant", "SystemTime"].iter().any(|word| names(text, word))
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn protobuf_is_named_at_the_edges_only() {
    let wrong = offenders(&sources(), |file, text| {
        let edge = file == "pb.rs" || file == "lib.rs" || file == "bot/registry.rs" || file.ends_with("/wire.rs");
        !edge && !matches!(layer(file), "service" | "cli") && names(text, "pb")
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_game_is_named_in_its_own_folder_only() {
    let found = sources();
    for key in games::KEYS {
        let folder = format!("games/{key}/");
        let excepted = ["games/mod.rs", "service/boards.rs", "cli/assess.rs"];
        let wrong = offenders(&found, |file, text| {
            !file.starts_with(&folder) && !excepted.contains(&file) && text.to_lowercase().contains(key)
        });
        assert_eq!(wrong, Vec::<String>::new(), "{key}");
        let enrolled = &found["games/mod.rs"];
        assert_eq!(enrolled.lines().filter(|line| line.contains(key)).count(), 1, "{key}: one line in games/mod.rs");
    }
}

#[test]
fn what_the_wire_promises_holds_no_unwrap() {
    let wrong = offenders(&sources(), |file, text| {
        let door = file.ends_with("/wire.rs") || file.ends_with("/view.rs") || layer(file) == "service";
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        door && product.contains(".unwrap()")
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_reader_sees_code_and_not_comments() {
    assert_eq!(code("a\n  /// tokio\nb // tonic"), "a\n\nb");
    assert!(names("use tokio::sync;", "tokio") && !names("tokio_like", "tokio"));
    assert_eq!((layer("bot/rng.rs"), layer("pb.rs")), ("bot", ""));
}
