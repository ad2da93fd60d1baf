//! Collects what the device models say of themselves, in the comments at the top of their files, for the reference of bindings.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    const FOLDER: &str = "src/devices";
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut names: Vec<String> = files(FOLDER).filter(|name| name != "mod").collect();
    names.sort();
    let mut code = String::new();
    for name in &names {
        let source = fs::read_to_string(format!("{FOLDER}/{name}.rs")).expect("a model's source can be read");
        let about = about(&source);
        writeln!(code, "pub(super) const {name}: &str = {about:?};").expect("a string takes what is written");
    }
    let folder = env::var("OUT_DIR").expect("Cargo names a folder");
    fs::write(Path::new(&folder).join("about.rs"), code).expect("Cargo's folder can be written");
}

/// Names of the modules of a folder.
fn files(folder: &str) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).expect("the models' folder can be read");
    let names = entries.map(|entry| entry.expect("the models' folder can be read").file_name());
    names.filter_map(|name| name.to_str()?.strip_suffix(".rs").map(str::to_owned))
}

/// The comment at the top of a source file, without links to code.
fn about(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    without_places(&lines.join("\n")).replace("[`", "`").replace("`]", "`")
}

/// Without links that are all that is in parentheses: they tell where code is.
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
