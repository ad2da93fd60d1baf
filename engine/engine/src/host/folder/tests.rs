use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

/// A folder with a second one beside it that must not be reachable; removed at the end.
struct Scratch {
    path: PathBuf,
    folder: Folder,
}

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("cyclescope-folder-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("inside/sub/deep")).unwrap();
        fs::write(path.join("secret"), "secret").unwrap();
        fs::write(path.join("inside/file"), "contents").unwrap();
        fs::write(path.join("inside/sub/deep/file"), "deep").unwrap();
        let folder = Folder::open(&path.join("inside")).unwrap();
        Scratch { path, folder }
    }

    fn link(&self, name: &str, target: &str) {
        symlink(target, self.path.join("inside").join(name)).unwrap();
    }

    fn read(&self, path: &str) -> Result<String, Refusal> {
        let mut text = String::new();
        let mut file = self.folder.open_file(path.as_bytes(), Opening::of_mode(0).unwrap())?;
        file.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    /// Tries every mode of opening; returns why they all fail.
    fn refused(&self, path: &str) -> Refusal {
        let mut modes = (0..12).map(|mode| Opening::of_mode(mode).unwrap());
        let first = self.folder.open_file(path.as_bytes(), modes.next().unwrap()).unwrap_err();
        for opening in modes {
            assert_eq!(self.folder.open_file(path.as_bytes(), opening).unwrap_err(), first, "{path}: {opening:?}");
        }
        first
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        assert_eq!(fs::read_to_string(self.path.join("secret")).unwrap(), "secret");
        fs::remove_dir_all(&self.path).unwrap();
    }
}

#[test]
fn a_path_begins_at_the_folder_and_stays_there() {
    let scratch = Scratch::new("paths");
    for path in ["file", "/file", "./file", "//file", "../file", "/../../file", "sub/../file", "sub/deep/../../file"] {
        assert_eq!(scratch.read(path).as_deref(), Ok("contents"), "{path}");
    }
    assert_eq!(scratch.read("../inside/sub/deep/file"), Err(Errno::NO_ENTRY.into()));
    assert_eq!(scratch.read("../secret"), Err(Errno::NO_ENTRY.into()));
    assert_eq!(scratch.read("/etc/passwd"), Err(Errno::NO_ENTRY.into()));
    for path in ["", "/", "..", ".", "sub/.."] {
        assert_eq!(scratch.refused(path), Errno::IS_FOLDER.into(), "{path}");
    }
    assert_eq!(scratch.refused("sub"), Errno::IS_FOLDER.into());
    assert_eq!(scratch.refused(&"a/".repeat(3000)), Errno::NAME_TOO_LONG.into());
    assert_eq!(scratch.refused(&"a".repeat(300)), Errno::NAME_TOO_LONG.into());
}

#[test]
fn links_are_followed_within_the_folder_only() {
    let scratch = Scratch::new("links");
    scratch.link("near", "file");
    scratch.link("to_sub", "sub");
    scratch.link("sub/back", "../file");
    scratch.link("chain", "to_sub/back");
    for path in ["near", "chain", "to_sub/back", "sub/back"] {
        assert_eq!(scratch.read(path).as_deref(), Ok("contents"), "{path}");
    }
    assert_eq!(scratch.read("to_sub/deep/file").as_deref(), Ok("deep"));
    scratch.link("parent", "..");
    scratch.link("sub/far", "../../secret");
    scratch.link("absolute", "/etc/passwd");
    scratch.link("new", "../new");
    scratch.link("twice", "sub/far");
    for path in ["parent/secret", "sub/far", "absolute", "new", "twice", "sub/../absolute"] {
        assert_eq!(scratch.refused(path), LEADS_OUT, "{path}");
    }
    assert!(!scratch.path.join("new").exists());
    scratch.link("round", "round");
    assert_eq!(scratch.refused("round"), Errno::TOO_MANY_LINKS.into());
    scratch.link("grows", "grows/grows");
    assert_eq!(scratch.refused("grows"), Errno::TOO_MANY_LINKS.into());
}

#[test]
fn nothing_is_opened_but_regular_files() {
    let scratch = Scratch::new("kinds");
    rustix::fs::mknodat(CWD, scratch.path.join("inside/fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scratch.path.join("inside/socket")).unwrap();
    scratch.link("to_fifo", "fifo");
    for path in ["fifo", "socket", "to_fifo"] {
        assert_eq!(scratch.refused(path), NO_REGULAR_FILE, "{path}");
    }
    assert_eq!(scratch.folder.remove(b"fifo"), Err(NO_REGULAR_FILE));
    assert_eq!(scratch.folder.rename(b"fifo", b"other"), Err(NO_REGULAR_FILE));
    assert_eq!(scratch.folder.rename(b"file", b"fifo"), Err(NO_REGULAR_FILE));
    assert_eq!(scratch.folder.remove(b"sub"), Err(Errno::IS_FOLDER.into()));
}

#[test]
fn files_are_made_written_renamed_and_removed() {
    let scratch = Scratch::new("files");
    let open = |path: &[u8], mode| scratch.folder.open_file(path, Opening::of_mode(mode).unwrap());
    open(b"made", 4).unwrap().write_all(b"one").unwrap();
    open(b"made", 8).unwrap().write_all(b" two").unwrap();
    assert_eq!(scratch.read("made").as_deref(), Ok("one two"));
    open(b"made", 2).unwrap().write_all(b"ONE").unwrap();
    assert_eq!(scratch.read("made").as_deref(), Ok("ONE two"));
    assert_eq!(open(b"nowhere", 2).unwrap_err(), Errno::NO_ENTRY.into());
    assert!(open(b"made", 0).unwrap().write_all(b"x").is_err());
    let exclusive = Opening { write: true, create: true, exclusive: true, ..Opening::default() };
    assert_eq!(scratch.folder.open_file(b"made", exclusive).unwrap_err().errno, Errno(17));
    scratch.folder.rename(b"made", b"sub/moved").unwrap();
    assert_eq!(scratch.read("sub/moved").as_deref(), Ok("ONE two"));
    open(b"sub/moved", 6).unwrap();
    assert_eq!(scratch.read("sub/moved").as_deref(), Ok(""));
    scratch.folder.rename(b"file", b"sub/moved").unwrap();
    assert_eq!(scratch.read("sub/moved").as_deref(), Ok("contents"));
    scratch.folder.remove(b"/sub/moved").unwrap();
    assert_eq!(scratch.folder.remove(b"sub/moved"), Err(Errno::NO_ENTRY.into()));
    assert_eq!(Opening::of_mode(12), None);
}

#[test]
fn a_link_is_removed_and_renamed_itself() {
    let scratch = Scratch::new("itself");
    scratch.link("out", "../secret");
    scratch.folder.rename(b"out", b"still_out").unwrap();
    assert_eq!(scratch.refused("still_out"), LEADS_OUT);
    scratch.folder.remove(b"still_out").unwrap();
    assert_eq!(scratch.read("still_out"), Err(Errno::NO_ENTRY.into()));
}
