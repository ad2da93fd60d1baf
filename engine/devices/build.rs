//! Lists the device models: each with what it says of itself, in the comment at the top of its file, for the reference
//! of bindings.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    const FOLDER: &str = "src";
    println!("cargo::rerun-if-changed={FOLDER}");
    let folders = entries(Path::new(FOLDER)).into_iter().filter(|path| path.is_dir());
    let mut code = String::from("&[\n");
    for file in
        folders.flat_map(|folder| entries(&folder)).filter(|path| path.extension().is_some_and(|end| end == "rs"))
    {
        let source = fs::read_to_string(&file).expect("a model's source can be read");
        if source.contains("\npub const MODEL: Model") {
            let [folder, model] = names(&file);
            writeln!(code, "(crate::{folder}::{model}::MODEL, {:?}),", about(&source))
                .expect("a string takes what is written");
        }
    }
    code.push(']');
    let folder = env::var("OUT_DIR").expect("Cargo names a folder");
    fs::write(Path::new(&folder).join("models.rs"), code).expect("Cargo's folder can be written");
}

/// What is in a folder, in the order of the names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the models' folders can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the models' folders can be read").path()).collect();
    paths.sort();
    paths
}

/// The folder and the name of a model's file.
fn names(file: &Path) -> [&str; 2] {
    let (folder, model) = (file.parent().and_then(Path::file_name), file.file_stem());
    [folder, model].map(|part| part.and_then(OsStr::to_str).expect("models have plain names"))
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
