//! The file with the contents.

use std::fs;
use std::path::PathBuf;

use super::*;
use engine::host_image::ImageError;
use engine::state::{Loader, State, saved};

/// A directory of this test's own, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("cyclescope-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn image(&self) -> PathBuf {
        self.0.join("flash.bin")
    }

    fn bench(&self) -> Bench {
        Bench::with(&[("cyclescope,image", strings(&[self.image().to_str().unwrap()]))])
    }
}

impl Bench {
    /// The end of a run, as the machine has it.
    fn finish(&mut self) -> Result<(), ImageError> {
        let result = self.flash.finish(self.now);
        self.flash.image().unwrap().release();
        result
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn contents_come_from_the_image_and_go_back_at_the_end() {
    let directory = Directory::new("round-trip");
    fs::write(directory.image(), [1, 2, 3]).unwrap();
    let mut bench = directory.bench();
    bench.flash.begin_run().unwrap();
    assert_eq!(bench.contents(0, 4), [1, 2, 3, 0xff]);
    bench.program(0xff_fffe, &[4, 5]);
    bench.finish().unwrap();
    let image = fs::read(directory.image()).unwrap();
    assert_eq!(image.len(), 16 << 20);
    assert_eq!((&image[..4], &image[image.len() - 2..]), (&[1, 2, 3, 0xff][..], &[4, 5][..]));
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 1, "no temporary file is left");
    assert_eq!(directory.bench().contents(0xff_fffe, 2), [4, 5]);
}

#[test]
fn an_image_that_does_not_exist_is_an_erased_flash() {
    let directory = Directory::new("absent");
    let mut bench = directory.bench();
    assert!(!directory.image().exists(), "a board that is only described leaves nothing");
    bench.flash.begin_run().unwrap();
    assert_eq!(bench.contents(0, 2), [0xff, 0xff]);
    bench.finish().unwrap();
    assert!(!directory.image().exists(), "nothing was changed, so nothing is written");
}

#[test]
fn a_failed_write_leaves_the_image_as_it_was() {
    let directory = Directory::new("failed");
    fs::write(directory.image(), [1]).unwrap();
    let mut bench = directory.bench();
    bench.flash.begin_run().unwrap();
    bench.program(0, &[0]);
    // The path becomes a directory that is not empty: the rename must fail.
    fs::remove_file(directory.image()).unwrap();
    fs::create_dir(directory.image()).unwrap();
    fs::write(directory.image().join("kept"), [1]).unwrap();
    let error = bench.finish().unwrap_err().to_string();
    assert!(error.starts_with("could not be written and is as before: another one"), "{error}");
    assert!(directory.image().join("kept").exists());
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn what_another_run_wrote_since_is_read_and_a_programmer_comes_after_it() {
    let directory = Directory::new("since");
    fs::write(directory.image(), [1, 2, 3]).unwrap();
    let mut bench = directory.bench();
    assert!(bench.flash.preload(1, &[0x22]));
    fs::write(directory.image(), [4, 5, 6, 7]).unwrap();
    bench.flash.begin_run().unwrap();
    assert_eq!(bench.contents(0, 5), [4, 0x22, 6, 7, 0xff]);
    bench.finish().unwrap();
    assert_eq!(fs::read(directory.image()).unwrap()[..5], [4, 0x22, 6, 7, 0xff]);
}

#[test]
fn a_copy_of_the_chip_has_nothing_to_do_with_the_file() {
    let directory = Directory::new("copy");
    let mut bench = directory.bench();
    bench.flash.begin_run().unwrap();
    bench.program(0, &[0]);
    let mut copy = bench.flash.clone();
    assert!(copy.image().is_none());
    copy.finish(bench.now).unwrap();
    assert_eq!(fs::metadata(directory.image()).unwrap().len(), 0);
    bench.finish().unwrap();
    assert_eq!(fs::metadata(directory.image()).unwrap().len(), 16 << 20);
}

#[test]
fn an_image_longer_than_the_flash_is_refused() {
    let directory = Directory::new("long");
    fs::write(directory.image(), vec![0; (16 << 20) + 1]).unwrap();
    let path = directory.image();
    let node = node(&[("cyclescope,image", strings(&[path.to_str().unwrap()]))]);
    let fault = read_node(&node).1[0].to_string();
    assert!(fault.ends_with("it has 16777217 bytes, the flash 16777216"), "{fault}");
}

#[test]
fn a_programmer_stores_bytes_without_time_even_where_bits_are_clear() {
    let mut bench = Bench::new();
    bench.program(0x00_0ffe, &[0, 0]);
    bench.program(0x00_1000, &[0, 0]);
    let (now, programmed) = (bench.now, bench.counter("pages_programmed"));
    assert!(bench.flash.preload(0x00_0fff, &[0x12, 0x34]));
    assert_eq!((bench.now, bench.counter("pages_programmed")), (now, programmed));
    assert_eq!(bench.contents(0x00_0ffe, 4), [0, 0x12, 0x34, 0], "across two subsectors");
    assert!(!bench.flash.preload(0xff_ffff, &[1, 2]), "past the end");
    assert_eq!(bench.contents(0xff_ffff, 1), [0xff]);
}

#[test]
fn a_loaded_snapshot_has_the_contents_and_the_image_gets_them_at_the_end() {
    let directory = Directory::new("loaded");
    fs::write(directory.image(), [1, 2, 3]).unwrap();
    let mut bench = directory.bench();
    bench.flash.begin_run().unwrap();
    bench.program(0x10_0000, &[7]);
    let bytes = saved(&bench.flash);
    assert!(
        (2 * 4096..3 * 4096).contains(&bytes.len()),
        "{} bytes with two subsectors that hold something",
        bytes.len()
    );
    bench.program(0x10_0000, &[0]);
    bench.finish().unwrap();
    // A run on the image as that one has left it.
    let mut other = directory.bench();
    other.flash.begin_run().unwrap();
    assert_eq!(other.contents(0x10_0000, 1), [0]);
    let mut loader = Loader::new(&bytes);
    assert_eq!((other.flash.load(&mut loader), loader.is_over()), (Ok(()), true));
    assert_eq!(saved(&other.flash), bytes);
    other.now = bench.now;
    assert_eq!(other.contents(0x10_0000, 1), [7]);
    assert_eq!(fs::read(directory.image()).unwrap()[0x10_0000], 0, "a load writes no image");
    other.finish().unwrap();
    assert_eq!(fs::read(directory.image()).unwrap()[0x10_0000], 7);
}
