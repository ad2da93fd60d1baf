//! A standard input whose bytes come from the host during the run, with a record of the reads: a debugger that goes
//! back in a run gets the same bytes again, read by read, before the host is asked for more.
//!
//! Recording starts when going back becomes possible. The number of bytes in a read is the host's choice, and the
//! firmware sees it, so the record is one of reads, and not only of bytes.

use std::fs::File;
use std::io::{self, Read};

use super::input::{Got, is_no_failure, is_ready};
use crate::state::{Fresh, State};

/// Stands in the record for a read that found nothing, and so ended a call which had read something before.
const NOTHING: u32 = u32::MAX;

/// A position in an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Place {
    /// Reads so far.
    reads: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// A hash of the bytes.
    digest: u64,
}

impl Place {
    /// The position after one more read.
    fn after(self, got: &[u8]) -> Place {
        let add = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Place {
            reads: self.reads + 1,
            bytes: self.bytes + got.len() as u64,
            digest: got.iter().fold(self.digest.wrapping_add(1), add),
        }
    }
}

/// The input, and its record.
#[derive(Debug)]
pub struct Recorded {
    file: File,
    place: Place,
    /// The position at which the record begins, if there is one.
    from: Option<Place>,
    /// By read: the number of its bytes; 0 at the end of the input.
    reads: Vec<u32>,
    bytes: Vec<u8>,
    /// The next read in the record, and the offset of its first byte.
    next: (usize, usize),
}

impl Recorded {
    /// For a file, terminal or pipe.
    pub fn new(file: File) -> Recorded {
        Recorded { file, place: Place::default(), from: None, reads: Vec::new(), bytes: Vec::new(), next: (0, 0) }
    }

    /// The present position.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Records reads from now on.
    pub fn record(&mut self) {
        self.from.get_or_insert(self.place);
    }

    /// True if the record has the reads since this position.
    pub fn has(&self, wanted: Place) -> bool {
        self.find(wanted).is_some()
    }

    /// Goes back to an earlier position. Returns false, and stays, if the record does not reach it.
    pub fn go_to(&mut self, wanted: Place) -> bool {
        let found = self.find(wanted);
        if let Some(next) = found {
            (self.place, self.next) = (wanted, next);
        }
        found.is_some()
    }

    /// The record's next read at a position, and the offset of its first byte.
    fn find(&self, wanted: Place) -> Option<(usize, usize)> {
        if wanted == self.place {
            return Some(self.next);
        }
        let (mut place, mut byte) = (self.from?, 0);
        for (read, count) in self.reads.iter().enumerate() {
            if place == wanted {
                return Some((read, byte));
            }
            let end = byte + bytes_of(*count);
            place = place.after(&self.bytes[byte..end]);
            byte = end;
        }
        (place == wanted).then_some((self.reads.len(), byte))
    }

    /// Reads available bytes, and waits up to `patience_ms` for the first one.
    ///
    /// # Errors
    /// The host's error.
    pub fn read(&mut self, into: &mut [u8], patience_ms: u32) -> io::Result<Got> {
        if let Some(got) = self.read_again(into) {
            return Ok(got);
        }
        if !is_ready(&self.file, patience_ms)? {
            return Ok(Got::Nothing);
        }
        match self.file.read(into) {
            Ok(count) => {
                self.add(count as u32, &into[..count]);
                Ok(Got::Bytes(count))
            }
            Err(error) if is_no_failure(error.kind()) => Ok(Got::Nothing),
            Err(error) => {
                // A failure is not recorded.
                (self.reads, self.bytes, self.next) = (Vec::new(), Vec::new(), (0, 0));
                self.place = self.place.after(&[]);
                self.from = self.from.map(|_| self.place);
                Err(error)
            }
        }
    }

    /// A read found nothing, which ended a call that had read something before.
    pub fn ended_call(&mut self) {
        if self.next.0 == self.reads.len() {
            self.add(NOTHING, &[]);
        }
    }

    fn add(&mut self, count: u32, got: &[u8]) {
        self.place = self.place.after(got);
        if self.from.is_some() {
            self.reads.push(count);
            self.bytes.extend(got);
            self.next = (self.reads.len(), self.bytes.len());
        }
    }

    /// The result of a recorded read, if one comes next.
    fn read_again(&mut self, into: &mut [u8]) -> Option<Got> {
        let (read, byte) = self.next;
        let count = *self.reads.get(read)?;
        let got = &self.bytes[byte..byte + bytes_of(count).min(into.len())];
        into[..got.len()].copy_from_slice(got);
        if got.len() < bytes_of(count) {
            // The firmware reads less than before, since its memory was changed by a debugger: the rest comes next.
            self.reads[read] = got.len() as u32;
            self.reads.insert(read + 1, count - got.len() as u32);
        }
        self.place = self.place.after(got);
        self.next = (read + 1, byte + got.len());
        Some(if count == NOTHING { Got::Nothing } else { Got::Bytes(got.len()) })
    }
}

fn bytes_of(count: u32) -> usize {
    if count == NOTHING { 0 } else { count as usize }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn got(input: &mut Recorded, most: usize) -> (Got, Vec<u8>) {
        let mut into = vec![0; most];
        let got = input.read(&mut into, 0).unwrap();
        into.truncate(if let Got::Bytes(count) = got { count } else { 0 });
        (got, into)
    }

    fn pipe() -> (Recorded, File) {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        (Recorded::new(reader.into()), File::from(writer))
    }

    #[test]
    fn recorded_reads_repeat_one_by_one_before_the_host_is_asked() {
        let (mut input, mut writer) = pipe();
        writer.write_all(b"ab").unwrap();
        assert_eq!(got(&mut input, 1), (Got::Bytes(1), b"a".to_vec()));
        input.record();
        let begin = input.place();
        assert_eq!(got(&mut input, 8).1, b"b");
        let middle = input.place();
        writer.write_all(b"cd").unwrap();
        assert_eq!(got(&mut input, 8).1, b"cd");
        assert!(input.go_to(begin));
        // Not the present contents, but those of the recorded reads.
        assert_eq!((got(&mut input, 8).1, input.place()), (b"b".to_vec(), middle));
        assert_eq!(got(&mut input, 8).1, b"cd");
        assert_eq!(got(&mut input, 8).0, Got::Nothing);
        writer.write_all(b"e").unwrap();
        assert!(input.go_to(middle));
        assert_eq!([got(&mut input, 8).1, got(&mut input, 8).1], [b"cd".to_vec(), b"e".to_vec()]);
        drop(writer);
        assert_eq!(got(&mut input, 8).0, Got::Bytes(0));
        assert!(input.go_to(middle));
        assert_eq!([got(&mut input, 8).1, got(&mut input, 8).1], [b"cd".to_vec(), b"e".to_vec()]);
        assert_eq!(got(&mut input, 8).0, Got::Bytes(0));
        // A position before the record, or of another input, is not available.
        assert!(!input.go_to(Place::default()));
        assert!(!input.go_to(Place { digest: 7, ..middle }));
        assert_eq!(input.place().bytes, 5);
    }

    #[test]
    fn the_end_of_a_call_repeats_and_a_shorter_read_leaves_the_rest() {
        let (mut input, mut writer) = pipe();
        input.record();
        let begin = input.place();
        writer.write_all(b"abc").unwrap();
        assert_eq!(got(&mut input, 3).1, b"abc");
        assert_eq!(got(&mut input, 3).0, Got::Nothing);
        input.ended_call();
        writer.write_all(b"d").unwrap();
        assert_eq!(got(&mut input, 3).1, b"d");
        assert!(input.go_to(begin));
        assert_eq!(got(&mut input, 3).1, b"abc");
        assert_eq!(got(&mut input, 3).0, Got::Nothing);
        assert_eq!(got(&mut input, 3).1, b"d");
        assert!(input.go_to(begin));
        assert_eq!([got(&mut input, 2).1, got(&mut input, 2).1], [b"ab".to_vec(), b"c".to_vec()]);
        assert_eq!(got(&mut input, 3).0, Got::Nothing);
        assert_eq!(got(&mut input, 3).1, b"d");
    }

    #[test]
    fn without_a_record_nothing_is_kept() {
        let (mut input, mut writer) = pipe();
        writer.write_all(b"abc").unwrap();
        assert_eq!(got(&mut input, 3).1, b"abc");
        assert!(input.bytes.is_empty() && !input.go_to(Place::default()));
        let here = input.place();
        assert!(input.go_to(here));
    }
}
