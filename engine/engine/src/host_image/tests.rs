//! Tests: valid files for images, locks between runs, and replacing an image.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::Arc;

use super::*;

/// A folder of this test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cyclescope-image-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn image(&self, name: &str, access: Access) -> HostImage {
        let at = Location { file: Arc::from("board.dts"), line: 7 };
        let (label, node) = ("flash0".to_owned(), "flash@0".to_owned());
        HostImage { path: self.0.join(name), access, label, node, at, taken: None }
    }

    /// A file with these contents.
    fn file(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fault(image: &HostImage) -> String {
    image.fault(&image.look().unwrap_err()).to_string()
}

fn taken(image: &mut HostImage) -> Result<(), String> {
    image.take().map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn special_files_are_refused_without_being_opened() {
    let folder = Folder::new("kinds");
    // Opening a FIFO would wait for its other end.
    assert!(Command::new("mkfifo").arg(folder.0.join("fifo")).status().unwrap().success());
    let _listener = UnixListener::bind(folder.0.join("socket")).unwrap();
    symlink("/dev/null", folder.0.join("null")).unwrap();
    fs::create_dir(folder.0.join("folder")).unwrap();
    for (name, kind) in
        [("fifo", "a FIFO"), ("socket", "a socket"), ("null", "a character device"), ("folder", "a folder")]
    {
        for access in [Access::ReadOnly, Access::InPlace, Access::Replaced] {
            let expected = format!("it is {kind}; an image is a regular file or a block device");
            assert!(fault(&folder.image(name, access)).ends_with(&expected));
        }
    }
}

#[test]
fn a_fault_names_the_line_the_path_and_what_to_do() {
    let folder = Folder::new("fault");
    let image = folder.image("none/flash.bin", Access::Replaced);
    let path = folder.0.join("none/flash.bin").display().to_string();
    let expected =
        format!("board.dts:7: flash@0: cyclescope,image is {path}; its folder does not exist: make it first");
    assert_eq!(fault(&image), expected);
    folder.file("file", b"");
    assert!(fault(&folder.image("file/flash.bin", Access::Replaced)).contains("Not a directory"));
    assert!(fault(&folder.image("flash.bin/", Access::Replaced)).contains("its folder does not exist"));
    assert!(fault(&folder.image("card.img", Access::InPlace)).contains("it cannot be opened: No such file"));
    symlink("circle", folder.0.join("circle")).unwrap();
    assert!(fault(&folder.image("circle", Access::Replaced)).contains("it cannot be opened: "));
}

#[test]
fn looking_at_an_image_that_does_not_exist_leaves_nothing() {
    let folder = Folder::new("look");
    assert!(folder.image("flash.bin", Access::Replaced).look().unwrap().is_none());
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_run_has_an_image_for_itself_until_its_end() {
    let folder = Folder::new("locked");
    folder.file("card.img", b"contents");
    symlink("card.img", folder.0.join("link")).unwrap();
    for access in [Access::InPlace, Access::Replaced] {
        let (mut one, mut other) = (folder.image("card.img", access), folder.image("link", access));
        assert_eq!(taken(&mut one), Ok(()));
        assert!(other.look().is_ok(), "a board may be described meanwhile");
        assert_eq!(taken(&mut other).unwrap_err(), ImageError::Taken.to_string());
        assert!(taken(&mut folder.image("card.img", Access::ReadOnly)).is_err());
        one.release();
        assert_eq!(taken(&mut other), Ok(()));
        // A machine that is dropped during a run releases its image.
        drop(other);
        assert_eq!(taken(&mut one), Ok(()));
    }
}

#[test]
fn any_number_of_runs_may_read_an_image() {
    let folder = Folder::new("read-only");
    folder.file("card.img", b"contents");
    let (mut one, mut other) = (folder.image("card.img", Access::ReadOnly), folder.image("card.img", Access::ReadOnly));
    assert_eq!((taken(&mut one), taken(&mut other)), (Ok(()), Ok(())));
    assert!(taken(&mut folder.image("card.img", Access::InPlace)).is_err());
}

#[test]
fn an_image_that_does_not_exist_is_locked_too_and_gone_if_nothing_was_written() {
    let folder = Folder::new("new");
    let (mut one, mut other) = (folder.image("a.bin", Access::Replaced), folder.image("a.bin", Access::Replaced));
    assert_eq!(taken(&mut one), Ok(()));
    assert!(taken(&mut other).is_err());
    one.release();
    assert_eq!(folder.names(), [""; 0]);
    assert_eq!(taken(&mut other), Ok(()));
    other.replace(&|out| out.write_all(b"new")).unwrap();
    other.release();
    assert_eq!(fs::read(folder.0.join("a.bin")).unwrap(), b"new");
}

#[test]
fn a_waiting_run_gets_the_file_that_the_previous_run_left() {
    let folder = Folder::new("next");
    folder.file("a.bin", b"old");
    let (mut one, mut other) = (folder.image("a.bin", Access::Replaced), folder.image("a.bin", Access::Replaced));
    assert_eq!(taken(&mut one), Ok(()));
    one.replace(&|out| out.write_all(b"longer")).unwrap();
    one.release();
    assert_eq!(read(other.take().unwrap().0, 100).unwrap(), b"longer");
}

#[test]
fn two_chips_clash_over_one_file_by_whatever_name() {
    let folder = Folder::new("clash");
    let file = folder.file("a.bin", b"");
    fs::hard_link(&file, folder.0.join("hard")).unwrap();
    symlink(&file, folder.0.join("soft")).unwrap();
    symlink("none.bin", folder.0.join("dangling")).unwrap();
    let image = |name| folder.image(name, Access::Replaced);
    assert!(image("a.bin").clashes_with(&image("hard")));
    assert!(image("soft").clashes_with(&folder.image("hard", Access::ReadOnly)));
    assert!(image("dangling").clashes_with(&image("none.bin")));
    assert!(!image("a.bin").clashes_with(&image("none.bin")));
    let reads = |name| folder.image(name, Access::ReadOnly);
    assert!(!reads("a.bin").clashes_with(&reads("hard")));
}

#[test]
fn a_replaced_image_keeps_its_mode_and_links_to_it_stay() {
    let folder = Folder::new("kept");
    let file = folder.file("a.bin", b"old");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    symlink("a.bin", folder.0.join("link")).unwrap();
    let mut image = folder.image("link", Access::Replaced);
    assert_eq!(taken(&mut image), Ok(()));
    image.replace(&|out| out.write_all(b"new")).unwrap();
    image.release();
    assert!(folder.0.join("link").is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(folder.names(), ["a.bin", "link"]);
}

#[test]
fn contents_that_can_not_be_written_leave_the_old_ones_and_nothing_else() {
    let folder = Folder::new("full");
    folder.file("a.bin", b"old");
    let mut image = folder.image("a.bin", Access::Replaced);
    assert_eq!(taken(&mut image), Ok(()));
    let full = |out: &mut dyn Write| {
        out.write_all(&[0; 100_000])?;
        Err(io::ErrorKind::StorageFull.into())
    };
    let error = image.replace(&full).unwrap_err();
    let path = folder.0.join("a.bin").display().to_string();
    let expected = format!("flash0: {path} could not be written and is as before: no storage space");
    assert_eq!(image.failure(&error), expected);
    image.release();
    assert_eq!((folder.names(), fs::read(path).unwrap()), (vec!["a.bin".to_owned()], b"old".to_vec()));
}

#[test]
fn a_file_to_which_no_path_leads_is_written_itself() {
    let folder = Folder::new("descriptor");
    let path = folder.file("a.bin", b"older");
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let mut image = folder.image("", Access::Replaced);
    image.path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file)).into();
    assert_eq!(taken(&mut image), Ok(()));
    image.replace(&|out| out.write_all(b"new")).unwrap();
    image.release();
    assert_eq!(read(&file, 100).unwrap(), b"new");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_file_that_was_put_in_the_images_place_during_the_run_stays() {
    let folder = Folder::new("moved");
    let path = folder.file("a.bin", b"old");
    let mut image = folder.image("a.bin", Access::Replaced);
    assert_eq!(taken(&mut image), Ok(()));
    fs::remove_file(&path).unwrap();
    folder.file("a.bin", b"theirs");
    let error = image.replace(&|out| out.write_all(b"new")).unwrap_err().to_string();
    assert!(error.contains("another one has been put in its place"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    // A file that was only removed is created again.
    fs::remove_file(&path).unwrap();
    image.replace(&|out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn an_image_longer_than_the_chip_is_not_read() {
    let folder = Folder::new("long");
    let file = File::create_new(folder.0.join("a.bin")).unwrap();
    file.set_len(1 << 40).unwrap();
    let file = File::open(folder.0.join("a.bin")).unwrap();
    assert_eq!(read(&file, 16).unwrap_err().to_string(), "it has 1099511627776 bytes, the flash 16");
}

#[test]
fn a_file_that_can_only_be_read_is_refused_unless_it_is_only_read() {
    let folder = Folder::new("busy");
    // Nobody can write a program that runs, not even root.
    let program = folder.0.join("sleep");
    fs::copy("/bin/sleep", &program).unwrap();
    // Directly after a copy it may still be open in a process that another test starts.
    let mut starts = (0..1000).filter_map(|_| Command::new(&program).arg("60").spawn().ok());
    let mut sleeping = starts.next().unwrap();
    let faults = [Access::InPlace, Access::Replaced].map(|access| fault(&folder.image("sleep", access)));
    let may_read = folder.image("sleep", Access::ReadOnly).look().is_ok();
    sleeping.kill().unwrap();
    sleeping.wait().unwrap();
    for fault in faults {
        assert!(fault.contains("it cannot be written: Text file busy"), "{fault}");
        assert!(fault.ends_with("; give the run a copy of it"), "{fault}");
    }
    assert!(may_read);
}

#[test]
fn an_image_in_a_folder_without_permission_is_written_itself() {
    let folder = Folder::new("denied");
    let path = folder.file("a.bin", b"older");
    let inode = fs::metadata(&path).unwrap().ino();
    fs::set_permissions(&folder.0, Permissions::from_mode(0o555)).unwrap();
    let mut image = folder.image("a.bin", Access::Replaced);
    assert_eq!(taken(&mut image), Ok(()));
    let replaced = image.replace(&|out| out.write_all(b"new"));
    let new = folder.image("b.bin", Access::Replaced).look();
    fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
    replaced.unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    // Root can write to any folder.
    if let Err(error) = new {
        assert!(error.to_string().starts_with("it cannot be made there: Permission denied"));
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    }
}
