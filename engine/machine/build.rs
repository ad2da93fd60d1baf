//! Gives the machine a number for all sources of the simulator: a snapshot is read by the same build alone.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the simulator, by their sources: this one, and those that it uses.
const SOURCES: [&str; 4] = ["src", "../devices/src", "../engine/src", "../derive/src"];

fn main() {
    println!("cargo::rustc-env=CYCLESCOPE_ENGINE={:016x}", digest_of(&SOURCES));
}

/// A number for all sources in folders: FNV-1a of their paths and bytes.
fn digest_of(folders: &[&str]) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut ahead: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    for folder in folders {
        println!("cargo::rerun-if-changed={folder}");
    }
    while let Some(path) = ahead.pop() {
        if path.is_dir() {
            ahead.extend(entries(&path));
            continue;
        }
        let bytes = fs::read(&path).expect("the sources can be read");
        for byte in path.as_os_str().as_encoded_bytes().iter().chain(&bytes).chain(&[0]) {
            digest = (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    digest
}

/// What is in a folder, in the order of the names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the sources can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the sources can be read").path()).collect();
    paths.sort();
    paths
}
