//! Changes of wires that do not fit in memory: sorted runs in a file, which are read back as one sequence in the order
//! of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::waves::Change;
use crate::time::Ps;

/// A change in the file: 8 bytes of the time in picoseconds, 4 of twice the signal's index plus the new level,
/// little-endian.
const CHANGE_BYTES: usize = 12;
/// Changes of a run that are read at a time.
const READ_CHANGES: usize = 4096;

/// The file, and where its runs are.
#[derive(Debug)]
pub struct Spool {
    file: Arc<File>,
    /// Changes up to the end of each run.
    ends: Vec<u64>,
}

impl Spool {
    /// An empty spool, in an empty file.
    pub fn new(file: File) -> Spool {
        Spool { file: Arc::new(file), ends: Vec::new() }
    }

    /// Appends changes, which are in the order of time.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_run(&mut self, changes: &[Change]) -> io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let begin = self.ends.last().copied().unwrap_or(0);
        let bytes: Vec<u8> = changes.iter().flat_map(to_bytes).collect();
        self.file.write_all_at(&bytes, begin * CHANGE_BYTES as u64)?;
        self.ends.push(begin + changes.len() as u64);
        Ok(())
    }

    /// All runs, in the order in which they were appended.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn runs(&self) -> io::Result<Vec<Vec<Change>>> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let run = |(begin, end): (u64, &u64)| {
            let mut bytes = vec![0; (end - begin) as usize * CHANGE_BYTES];
            self.file.read_exact_at(&mut bytes, begin * CHANGE_BYTES as u64)?;
            Ok(bytes.chunks_exact(CHANGE_BYTES).map(from_bytes).collect())
        };
        begins.zip(&self.ends).map(run).collect()
    }

    /// Forgets all runs: the next run is the first in the file.
    pub fn empty(&mut self) {
        self.ends.clear();
    }

    /// All changes in the order of time; those at the same time in the order in which they were appended.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn merged(&self) -> io::Result<Merged> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let mut runs: Vec<Run> =
            begins.zip(&self.ends).map(|(next, end)| Run { next, end: *end, read: Vec::new().into_iter() }).collect();
        let mut heads = BinaryHeap::new();
        for (index, run) in runs.iter_mut().enumerate() {
            if let Some(change) = run.take(&self.file)? {
                heads.push(Reverse(Head { order: change.order(), run: index, change }));
            }
        }
        Ok(Merged { file: Arc::clone(&self.file), runs, heads })
    }
}

/// A change in the format of the file, which other readers get, too.
pub fn to_bytes(change: &Change) -> [u8; CHANGE_BYTES] {
    let mut bytes = [0; CHANGE_BYTES];
    bytes[..8].copy_from_slice(&change.at.0.to_le_bytes());
    bytes[8..].copy_from_slice(&(change.signal << 1 | u32::from(change.level)).to_le_bytes());
    bytes
}

fn from_bytes(bytes: &[u8]) -> Change {
    let little_endian = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let (at, word) = (little_endian(&bytes[..8]), little_endian(&bytes[8..]));
    Change { at: Ps(at), signal: (word >> 1) as u32, level: word & 1 != 0 }
}

/// The rest of a run.
#[derive(Debug)]
struct Run {
    /// The index of the first change that has not been read from the file, and the index of the end.
    next: u64,
    end: u64,
    read: std::vec::IntoIter<Change>,
}

impl Run {
    fn take(&mut self, file: &File) -> io::Result<Option<Change>> {
        if let Some(change) = self.read.next() {
            return Ok(Some(change));
        }
        let count = (self.end - self.next).min(READ_CHANGES as u64);
        let mut bytes = vec![0; count as usize * CHANGE_BYTES];
        file.read_exact_at(&mut bytes, self.next * CHANGE_BYTES as u64)?;
        self.next += count;
        self.read = bytes.chunks_exact(CHANGE_BYTES).map(from_bytes).collect::<Vec<Change>>().into_iter();
        Ok(self.read.next())
    }
}

/// The next change of a run. The order is by time, and at the same time by run.
#[derive(Debug)]
struct Head {
    order: (Ps, bool),
    run: usize,
    change: Change,
}

impl Head {
    fn key(&self) -> ((Ps, bool), usize) {
        (self.order, self.run)
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// All runs as one sequence.
#[derive(Debug)]
pub struct Merged {
    file: Arc<File>,
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<Head>>,
}

impl Iterator for Merged {
    type Item = io::Result<Change>;

    fn next(&mut self) -> Option<io::Result<Change>> {
        let mut head = self.heads.peek_mut()?;
        let Reverse(first) = &*head;
        let (run, change) = (first.run, first.change);
        match self.runs[run].take(&self.file) {
            Ok(Some(next)) => *head = Reverse(Head { order: next.order(), run, change: next }),
            Ok(None) => drop(PeekMut::pop(head)),
            Err(failure) => return Some(Err(failure)),
        }
        Some(Ok(change))
    }
}
