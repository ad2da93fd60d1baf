//! Files that a client writes: in the folder that the program was started in or below it, each one completely or not at
//! all, and only in place of one of the same kind. A client may be anyone who reaches a port, so nothing else can be
//! overwritten, and nothing is written elsewhere.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;

use machine::Machine;

/// The number of bytes at the start of a file by which its kind is recognized.
const MARK_BYTES: usize = 6;

/// Runs `work` with the name of a file, which follows the first `words` words of a command.
pub fn with_file(command: &str, words: usize, work: impl FnOnce(&str) -> String) -> String {
    let mut rest = command.trim();
    for _ in 0..words {
        rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
    }
    match rest {
        "" => "a file's name is missing; monitor help lists the commands\n".to_owned(),
        path => work(path),
    }
}

/// Writes a snapshot of the machine.
pub fn snapshot(machine: &mut Machine, path: &str) -> String {
    let snapshot = match machine.snapshot() {
        Ok(snapshot) => snapshot,
        Err(why) => return format!("{}: there is no snapshot: {why}\n", path.escape_debug()),
    };
    let time = snapshot.time();
    match write(path, "snapshot", [snapshot.to_bytes()]) {
        Ok(()) => format!("{}: the board at {time} ({} ps)\n", path.escape_debug(), time.0),
        Err(why) => why,
    }
}

/// Writes a file of a kind ("timeline"). The first piece begins with the mark of the kind.
///
/// # Errors
/// Why it was not written, as a line with its name.
pub fn write(path: &str, kind: &str, pieces: impl IntoIterator<Item = Vec<u8>>) -> Result<(), String> {
    let line = |why: &str| format!("{}: {why}\n", path.escape_debug());
    let failed = |error: &io::Error| line(&format!("can't be written: {error}"));
    let target = place_of(Path::new(path)).map_err(|why| line(&why))?;
    let mut pieces = pieces.into_iter();
    let first = pieces.next().unwrap_or_default();
    let before = match fs::symlink_metadata(&target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(&error)),
        Ok(found) if !found.is_file() => return Err(line("is no regular file: name another one")),
        Ok(found) => Some(found),
    };
    if before.is_some() && !has_same_mark(&target, &first).map_err(|error| failed(&error))? {
        return Err(line(&format!("is there, and is no {kind}: name another file")));
    }
    let scratch = Scratch::beside(&target).map_err(|error| failed(&error))?;
    let write = || -> io::Result<()> {
        let mut file = &scratch.file;
        file.write_all(&first)?;
        pieces.try_for_each(|piece| file.write_all(&piece))?;
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&scratch.path, &target)
    };
    write().map_err(|error| failed(&error))
}

/// The path of a file, which must be below the folder that the program was started in, after all links are resolved.
fn place_of(path: &Path) -> Result<PathBuf, String> {
    let name = path.file_name().ok_or("is no file's name")?;
    let failed = |error: io::Error| format!("can't be written: {error}");
    let folder = match path.parent().filter(|parent| *parent != OsStr::new("")) {
        Some(parent) => parent.canonicalize().map_err(failed)?,
        None => Path::new(".").canonicalize().map_err(failed)?,
    };
    let own = Path::new(".").canonicalize().map_err(failed)?;
    match folder.starts_with(&own) {
        true => Ok(folder.join(name)),
        false => Err(format!("is not in {}, where this runs, or below it", own.display())),
    }
}

fn has_same_mark(path: &Path, new: &[u8]) -> io::Result<bool> {
    let mark = &new[..new.len().min(MARK_BYTES)];
    let mut begin = Vec::new();
    File::open(path)?.take(MARK_BYTES as u64).read_to_end(&mut begin)?;
    Ok(begin == mark)
}

/// A new file next to one that it is to replace; removed at the end, unless it was moved there.
struct Scratch {
    path: PathBuf,
    file: File,
}

impl Scratch {
    fn beside(target: &Path) -> io::Result<Scratch> {
        let folder = target.parent().unwrap_or(Path::new("."));
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!(".cyclescope-{}-{number}.tmp", process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                file => return Ok(Scratch { file: file?, path }),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.path);
    }
}
