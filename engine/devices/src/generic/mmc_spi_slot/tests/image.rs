//! The file with the contents.

use std::fs;
use std::path::PathBuf;

use super::*;

/// A directory of this test's own, removed at the end.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("cyclescope-card-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    pub(super) fn image(&self, bytes: u64) -> PathBuf {
        let path = self.0.join("card.img");
        fs::File::create(&path).unwrap().set_len(bytes).unwrap();
        path
    }

    pub(super) fn property(&self) -> (&'static str, Vec<u8>) {
        ("cyclescope,image", strings(&[self.0.join("card.img").to_str().unwrap()]))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn acknowledged_blocks_are_in_the_file_at_once() {
    let directory = Directory::new("acknowledged");
    let image = directory.image(16 << 20);
    let mut bench = Bench::with(&[directory.property()]);
    bench.command(25, 0x10_0000);
    for block in 0..5 {
        bench.exchange(0xfc);
        bench.send(&pattern(block));
        bench.send(&[0, 0]);
        let at = 0x10_0000 + 512 * usize::from(block);
        assert_eq!(fs::read(&image).unwrap()[at..at + 512], [0; 512], "not before the response");
        assert_eq!(bench.exchange(0xff), 0xe5);
        assert_eq!(fs::read(&image).unwrap()[at..at + 512], pattern(block));
        bench.ready();
    }
    // The host program may end here, without any more calls.
    drop(bench);
    let mut again = Bench::with(&[directory.property()]);
    assert_eq!(again.read(2052), pattern(4));
    again.card.finish(again.now).unwrap();
    assert_eq!(again.notes(), Vec::<String>::new());
}

#[test]
fn the_size_of_the_file_is_the_capacity() {
    let directory = Directory::new("size");
    directory.image(24 << 20);
    let mut bench = Bench::with(&[directory.property()]);
    assert_eq!(bench.command(17, 24 << 20), 0x40);
    assert_eq!(bench.command(17, (24 << 20) - 512), 0);
}

#[test]
fn a_large_image_is_not_read_whole_and_stays_sparse() {
    let directory = Directory::new("large");
    let image = directory.image(2 << 30);
    let mut bench = Bench::with(&[directory.property()]);
    bench.write(4_000_000, &pattern(1));
    bench.command(32, 3_900_000 * 512);
    bench.command(33, 4_000_001 * 512);
    assert_eq!(bench.command(38, 0), 0);
    bench.ready();
    assert_eq!(bench.read(4_000_000), [0; 512]);
    assert_eq!(fs::metadata(&image).unwrap().len(), 2 << 30);
    #[cfg(unix)]
    assert!(std::os::unix::fs::MetadataExt::blocks(&fs::metadata(&image).unwrap()) < 1000);
}

#[test]
fn a_host_error_is_a_write_error() {
    let directory = Directory::new("full");
    let image = directory.image(16 << 20);
    let mut bench = Bench::with(&[directory.property()]);
    // A file that cannot be written takes the image's place, as a full disk would.
    bench.card.medium = super::super::medium::Medium::image(fs::File::open(&image).unwrap()).unwrap().0;
    assert_eq!(bench.write(0, &pattern(0)) & 0x1f, 0x0d);
    assert_eq!(bench.status(), (0, 0x04));
    assert!(bench.notes()[0].starts_with("the image could not be written: "));
    assert_eq!(bench.counter("blocks_written"), 0);
    // And one that got shorter cannot be read.
    fs::File::options().write(true).open(&image).unwrap().set_len(512).unwrap();
    bench.command(17, 512);
    assert_eq!(bench.first_other_than(0xff), 0x01);
    assert!(bench.notes()[0].starts_with("the image could not be read: "));
    // The first of them is reported at the end, as an error.
    let error = bench.card.finish(bench.now).unwrap_err().to_string();
    assert!(error.starts_with("could not be written during the run: "), "{error}");
}

#[test]
fn a_card_that_got_another_size_before_the_run_is_refused() {
    let directory = Directory::new("resized");
    directory.image(16 << 20);
    let mut bench = Bench::with(&[directory.property()]);
    directory.image(8 << 20);
    let error = bench.card.begin_run().unwrap_err().to_string();
    assert_eq!(error, "it had 16777216 bytes when the board was made, and has 8388608 now");
}

#[test]
fn a_run_writes_the_file_that_the_path_leads_to_as_it_begins() {
    let directory = Directory::new("another");
    let image = directory.image(16 << 20);
    let mut bench = Bench::with(&[directory.property()]);
    fs::remove_file(&image).unwrap();
    directory.image(16 << 20);
    bench.card.begin_run().unwrap();
    bench.write(0, &pattern(3));
    bench.card.finish(bench.now).unwrap();
    assert_eq!(fs::read(&image).unwrap()[..512], pattern(3));
}

#[test]
fn what_is_no_image_is_refused() {
    let directory = Directory::new("refused");
    let fault = |directory: &Directory| {
        let faults = read_node(&node(&[directory.property()])).1;
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults[0].to_string()
    };
    assert!(fault(&directory).ends_with("it cannot be opened: No such file or directory (os error 2)"));
    directory.image(513);
    assert!(fault(&directory).ends_with("it has 513 bytes; an image is a multiple of 512, and not empty"));
    directory.image(0);
    assert!(fault(&directory).contains("it has 0 bytes"));
    directory.image((1 << 30) + 512);
    let next =
        "a file of 1073742336 bytes; an SDSC card's CSD can't say that; the next size that it can is 1074266112 bytes";
    assert!(fault(&directory).ends_with(next), "{}", fault(&directory));
}

#[test]
fn a_write_protected_card_opens_its_image_for_reading() {
    let directory = Directory::new("protected");
    let image = directory.image(16 << 20);
    let mut permissions = fs::metadata(&image).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&image, permissions).unwrap();
    let mut bench = Bench::with(&[directory.property(), ("cyclescope,write-protect", Vec::new())]);
    assert_eq!(bench.read(5), [0; 512]);
}
