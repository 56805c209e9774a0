//! Compiles every `.proto` under `proto/understudy` with protox (no protoc needed) and keeps the descriptor set,
//! from which reflection and the JSON of the command line are served.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    println!("cargo::rerun-if-env-changed=UNDERSTUDY_REVISION");
    let mut files = Vec::new();
    collect(Path::new("proto/understudy"), &mut files)?;
    files.sort();
    let descriptors = protox::compile(&files, ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("understudy.bin"), prost_bytes(&descriptors))?;
    fs::write(out.join("games.rs"), games(&files))?;
    tonic_prost_build::configure()
        // Bytes that are not the message must be INVALID_ARGUMENT; tonic's own codec says INTERNAL.
        .codec_path("crate::service::codec::StrictCodec")
        .extern_path(".google.rpc.Status", "::tonic_types::pb::Status")
        .build_transport(false)
        // One nested module a package: the names that the generated code itself refers to.
        .include_file("packages.rs")
        .compile_fds(descriptors)?;
    Ok(())
}

/// A short name for the package of each game, so that a new game needs no line in `pb.rs`.
fn games(files: &[PathBuf]) -> String {
    let folder = |file: &PathBuf| {
        let parts: Vec<_> = file.iter().filter_map(|part| part.to_str()).collect();
        parts.windows(2).find(|pair| pair[0] == "understudy" && pair[1] != "v1").map(|pair| pair[1].to_owned())
    };
    let mut games: Vec<String> = files.iter().filter_map(folder).collect();
    games.dedup();
    games.iter().map(|game| format!("pub use self::understudy::{game}::v1 as {game};\n")).collect()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "proto") {
            files.push(path);
        }
    }
    Ok(())
}

fn prost_bytes(set: &impl prost::Message) -> Vec<u8> {
    set.encode_to_vec()
}
