//! Lists the device models: each with what it says of itself, in the comment at the top of its file, for the reference
//! of bindings.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    const FOLDER: &str = "src";
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut code = String::from("&[\n");
    for file in sources(Path::new(FOLDER)) {
        let source = fs::read_to_string(&file).expect("a model's source can be read");
        if source.contains("\npub const MODEL: Model") {
            let module = module_of(file.strip_prefix(FOLDER).expect("sources are in their folder"));
            writeln!(code, "(crate::{module}::MODEL, {:?}),", about(&source)).expect("a string takes what is written");
        }
    }
    code.push(']');
    let folder = env::var("OUT_DIR").expect("Cargo names a folder");
    fs::write(Path::new(&folder).join("models.rs"), code).expect("Cargo's folder can be written");
}

/// All source files in a folder and its subfolders.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries(folder).into_iter().partition(|path| path.is_dir());
    let sources = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    sources.chain(folders.iter().flat_map(|folder| self::sources(folder))).collect()
}

/// What is in a folder, in the order of the names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the models' folders can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the models' folders can be read").path()).collect();
    paths.sort();
    paths
}

/// The path of a source file's module in the crate.
fn module_of(file: &Path) -> String {
    let names = file.with_extension("");
    let names = names.iter().map(|name| name.to_str().expect("models have plain names"));
    names.collect::<Vec<_>>().join("::")
}

/// The comment at the top of a source file, without links to code.
fn about(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    without_places(&lines.join("\n")).replace("[`", "`").replace("`]", "`")
}

/// Without links that are all that is in parentheses: they say where code is.
fn without_places(text: &str) -> String {
    let (begin, end) = ("([`", "`])");
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once(begin) {
        match link.split_once(end) {
            Some((name, after)) if !name.contains([' ', '`']) => {
                kept.push_str(before.trim_end());
                rest = after;
            }
            _ => {
                kept.push_str(before);
                kept.push_str(begin);
                rest = link;
            }
        }
    }
    kept + rest
}
