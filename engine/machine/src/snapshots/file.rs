//! A snapshot as bytes of a file: magic number, format, build of the engine, size and a digest, then the machine's
//! identity, and the state. Numbers are little-endian.

use super::{Head, Snapshot, SnapshotError};
use engine::state::{Fresh, Loader, Saver, State, digest};

/// The first bytes of each file.
const MAGIC: [u8; 8] = *b"\x89CYCSNP\n";
/// The version of the format.
const FORMAT: u32 = 1;
/// Hash of the engine's sources.
const BUILD: &str = env!("CYCLESCOPE_ENGINE");
/// Its length in bytes.
const BUILD_BYTES: usize = 16;

impl Snapshot {
    /// The snapshot as bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut head = Saver::default();
        self.head.save(&mut head);
        let head = head.into_bytes();
        let mut bytes = Vec::with_capacity(MAGIC.len() + 64 + head.len() + self.state.len());
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(BUILD.as_bytes());
        bytes.extend(((head.len() + self.state.len()) as u64).to_le_bytes());
        bytes.extend(digest::of_all([&head[..], &self.state]).to_le_bytes());
        bytes.extend((head.len() as u64).to_le_bytes());
        bytes.extend(head);
        bytes.extend_from_slice(&self.state);
        bytes
    }

    /// The snapshot in a file's bytes.
    ///
    /// # Errors
    /// If they are from another build, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(SnapshotError::NoSnapshot)?;
        let mut loader = Loader::new(rest);
        let found = u32::loaded(&mut loader)?;
        if found != FORMAT {
            return Err(SnapshotError::Format { found, wanted: FORMAT });
        }
        let build = loader.raw(BUILD_BYTES)?;
        if build != BUILD.as_bytes() {
            let found = String::from_utf8_lossy(build).escape_debug().to_string();
            return Err(SnapshotError::Build { found, wanted: BUILD.to_owned() });
        }
        let (len, wanted) = <(u64, u64)>::loaded(&mut loader)?;
        let head_len = usize::loaded(&mut loader)?;
        let head = loader.raw(head_len)?;
        let state_len = usize::try_from(len).ok().and_then(|len| len.checked_sub(head_len));
        let state = loader.raw(state_len.ok_or(SnapshotError::Damaged)?)?;
        if !loader.is_over() || digest::of_all([head, state]) != wanted {
            return Err(SnapshotError::Damaged);
        }
        let mut head = Loader::new(head);
        let read = Head::loaded(&mut head)?;
        if !head.is_over() {
            return Err(SnapshotError::Damaged);
        }
        Ok(Snapshot { head: read, state: state.to_vec(), triggers: None })
    }
}

impl From<engine::state::Damaged> for SnapshotError {
    fn from(_: engine::state::Damaged) -> SnapshotError {
        SnapshotError::Damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::host::recorded::Place;
    use engine::time::Ps;
    use proptest::prelude::*;

    fn snapshot(state: &[u8]) -> Snapshot {
        let head = Head {
            board: "Some board".into(),
            nodes: vec![("/".into(), 7), ("/soc/uart@1000".into(), u64::MAX)],
            devices: vec!["uart0".into()],
            programs: vec![Some(3), None],
            main: 0,
            time: Ps(12_345),
            open_files: 0,
            input: Place::default(),
            typed: 0,
            shows_activities: false,
        };
        Snapshot { head, state: state.to_vec(), triggers: None }
    }

    proptest! {
        #[test]
        fn damaged_files_are_refused(
            state in prop::collection::vec(any::<u8>(), 0..200),
            at in any::<usize>(), bit in 0..8, cut in any::<usize>()
        ) {
            let snapshot = snapshot(&state);
            let bytes = snapshot.to_bytes();
            prop_assert_eq!(Snapshot::from_bytes(&bytes), Ok(snapshot));
            let (at, cut) = (at % bytes.len(), cut % bytes.len());
            prop_assert!(Snapshot::from_bytes(&bytes[..cut]).is_err());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1_u8 << bit;
            prop_assert!(Snapshot::from_bytes(&flipped).is_err());
            let mut longer = bytes;
            longer.push(0);
            prop_assert_eq!(Snapshot::from_bytes(&longer), Err(SnapshotError::Damaged));
        }

        #[test]
        fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Snapshot::from_bytes(&bytes).is_err());
            let mut begun = snapshot(&[]).to_bytes();
            begun.truncate(28);
            begun.extend(bytes);
            prop_assert!(Snapshot::from_bytes(&begun).is_err());
        }
    }

    #[test]
    fn errors_are_reported_in_a_sentence() {
        let bytes = snapshot(&[1]).to_bytes();
        let of = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            Snapshot::from_bytes(&bytes).unwrap_err().to_string()
        };
        assert_eq!(of(&|bytes| bytes[0] = b'E'), "it is no snapshot of Cyclescope");
        assert_eq!(of(&|bytes| bytes[8] = 9), "the snapshot has format 9, this program reads format 1");
        assert!(of(&|bytes| bytes[12] = b'x').starts_with("the snapshot was made by engine x"));
        assert_eq!(of(&|bytes| bytes.truncate(50)), "the snapshot is damaged");
    }
}
