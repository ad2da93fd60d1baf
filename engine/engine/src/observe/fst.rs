//! Waveforms as a Fast Signal Trace, GTKWave's own format: much smaller than a Value Change Dump.

use std::io::{self, BufWriter, Seek, Write};

use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType, FstVarDirection,
    FstVarType, FstWriteError,
};

use super::values::{Values, name_of};
use super::waves::{Signal, Waves};
use crate::time::Ps;

/// A block's changes are packed when they take this much memory.
const BLOCK_BYTES: usize = 1 << 24;
/// Picoseconds are 10^-12 s.
const PS_EXPONENT: i8 = -12;

fn failed(error: FstWriteError) -> io::Error {
    match error {
        FstWriteError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

const fn value(level: bool) -> &'static [u8] {
    if level { b"1" } else { b"0" }
}

/// Writes the changes of some signals, by their indices in [`Waves::signals`], from the start of the run to `end`, in
/// units of `unit`, which is a power of ten. Times that are not a multiple of it are rounded to the nearest one, and
/// `end` is rounded up. At the end, the writer goes back to the start of the file.
///
/// # Errors
/// If the changes cannot be read back, or the file not written.
pub fn write(waves: &Waves, chosen: &[usize], unit: Ps, end: Ps, into: impl Write + Seek) -> io::Result<()> {
    let signals = waves.signals();
    let mut values = Values::new(&signals, chosen);
    let (mut body, ids) = begin(&signals, chosen, &values, unit, BufWriter::new(into)).map_err(failed)?;
    let coded = |values: &Values, value| (0..signals.len()).find(|signal| values.value_of(*signal) == Some(value));
    let value_ids: Vec<FstSignalId> = (0..values.count()).filter_map(|value| ids[coded(&values, value)?]).collect();
    let mut last = 0;
    for change in waves.recorded()? {
        let change = change?;
        let Some(id) = ids[change.signal as usize] else { continue };
        let at = (change.at.0 + unit.0 / 2) / unit.0;
        if at != last {
            write_values(&mut body, &mut values, &value_ids).map_err(failed)?;
            last = at;
            if body.size() >= BLOCK_BYTES {
                body.flush().map_err(failed)?;
            }
            body.time_change(at).map_err(failed)?;
        }
        if !values.set(change.signal as usize, change.level) {
            body.signal_change(id, value(change.level)).map_err(failed)?;
        }
    }
    write_values(&mut body, &mut values, &value_ids).map_err(failed)?;
    body.time_change(end.0.div_ceil(unit.0).max(last)).map_err(failed)?;
    body.finish().map_err(failed)?.flush()
}

/// Writes values that changed at the last time, each once.
fn write_values<W: Write + Seek>(
    body: &mut FstBodyWriter<W>,
    values: &mut Values,
    ids: &[FstSignalId],
) -> Result<(), FstWriteError> {
    while let Some(value) = values.take_changed() {
        body.signal_change(ids[value], &digits(values, value))?;
    }
    Ok(())
}

/// A value of several bits.
fn digits(values: &Values, of: usize) -> Vec<u8> {
    values.bits(of).flat_map(|level| value(level).iter().copied()).collect()
}

type Begun<W> = (FstBodyWriter<W>, Vec<Option<FstSignalId>>);

/// Writes the header, and the levels at time 0. It has no date: the same run gives the same file.
fn begin<W: Write + Seek>(
    signals: &[Signal],
    chosen: &[usize],
    values: &Values,
    unit: Ps,
    into: W,
) -> Result<Begun<W>, FstWriteError> {
    let info = FstInfo {
        start_time: 0,
        timescale_exponent: PS_EXPONENT + unit.0.ilog10() as i8,
        version: "Cyclescope".to_owned(),
        date: String::new(),
        file_type: FstFileType::Verilog,
    };
    let mut header = FstHeaderWriter::new(into, &info)?;
    let mut ids = vec![None; signals.len()];
    for (nth, index) in chosen.iter().enumerate() {
        let scope = &signals[*index].scope;
        if chosen[..nth].iter().any(|earlier| signals[*earlier].scope == *scope) {
            continue;
        }
        header.scope(scope, "", FstScopeType::Module)?;
        for index in chosen[nth..].iter().filter(|index| signals[**index].scope == *scope) {
            let of = values.value_of(*index);
            let (name, bits) = match values.declared_by(*index) {
                Some(bits) => (name_of(&signals[*index]), bits as u32),
                None if of.is_none() => (signals[*index].name.as_str(), 1),
                None => {
                    let first = chosen.iter().find(|other| values.value_of(**other) == of);
                    ids[*index] = first.and_then(|first| ids[*first]);
                    continue;
                }
            };
            let kind = FstSignalType::bit_vec(bits);
            ids[*index] = Some(header.var(name, kind, FstVarType::Wire, FstVarDirection::Implicit, None)?);
        }
        header.up_scope()?;
    }
    let mut body = header.finish()?;
    for (index, signal) in signals.iter().enumerate() {
        let Some(id) = ids[index] else { continue };
        match (values.value_of(index), values.declared_by(index)) {
            (None, _) => body.signal_change(id, value(signal.first))?,
            (Some(of), Some(_)) => body.signal_change(id, &digits(values, of))?,
            _ => {}
        }
    }
    Ok((body, ids))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use fst_reader::{FstFilter, FstHierarchyEntry, FstReader, FstSignalValue};

    use super::*;

    /// A file, and what other readers find in it: names, and changes by time.
    fn read(file: Vec<u8>) -> (Vec<String>, Vec<(u64, usize, String)>, i8) {
        let mut reader = FstReader::open(Cursor::new(file)).unwrap();
        let (mut scopes, mut names, mut handles) = (Vec::new(), Vec::new(), Vec::new());
        reader
            .read_hierarchy(|entry| match entry {
                FstHierarchyEntry::Scope { name, .. } => scopes.push(name),
                FstHierarchyEntry::UpScope => drop(scopes.pop()),
                FstHierarchyEntry::Var { name, handle, .. } => {
                    names.push(format!("{}.{name}", scopes.join(".")));
                    handles.push(handle);
                }
                _ => {}
            })
            .unwrap();
        let mut changes = Vec::new();
        reader
            .read_signals(&FstFilter::all(), |at, handle, value| {
                let FstSignalValue::String(text) = value else { panic!("no bits") };
                let place = handles.iter().position(|it| *it == handle).unwrap();
                changes.push((at, place, String::from_utf8(text.to_vec()).unwrap()));
                Ok::<(), std::convert::Infallible>(())
            })
            .unwrap();
        changes.sort();
        (names, changes, reader.get_header().timescale_exponent)
    }

    #[test]
    fn a_file_has_scopes_first_levels_and_changes() {
        let waves = Waves::default();
        let wires = [("spi0", "sck"), ("radio", "irq"), ("spi0", "cs0")]
            .map(|(scope, name)| waves.signal(scope, name, name == "cs0"));
        waves.start();
        for (wire, at, level) in [(2, 20_000, false), (0, 30_000, true), (0, 40_000, false), (1, 40_000, true)] {
            waves.set(wires[wire], Ps(at), level);
        }
        let mut file = Cursor::new(Vec::new());
        write(&waves, &[0, 1, 2], Ps(10_000), Ps(50_001), &mut file).unwrap();
        let (names, changes, exponent) = read(file.into_inner());
        assert_eq!((names, exponent), (vec!["spi0.sck".into(), "spi0.cs0".into(), "radio.irq".into()], -8));
        let text = |(at, place, value): (u64, usize, &str)| (at, place, value.to_owned());
        let first = [(0, 0, "0"), (0, 1, "1"), (0, 2, "0")];
        let later = [(2, 1, "0"), (3, 0, "1"), (4, 0, "0"), (4, 2, "1")];
        assert_eq!(changes, first.into_iter().chain(later).map(text).collect::<Vec<_>>());
    }

    #[test]
    fn many_changes_make_several_blocks() {
        let waves = Waves::default();
        let wire = waves.signal("spi0", "sck", false);
        waves.start();
        (1..300_000).for_each(|nth| waves.set(wire, Ps(7 * nth), nth % 2 == 1));
        let mut file = Cursor::new(Vec::new());
        write(&waves, &[0], Ps(1), Ps(7 * 300_000), &mut file).unwrap();
        let (_, changes, _) = read(file.into_inner());
        assert_eq!(changes.len(), 300_000);
        assert!(changes.iter().zip(0..).all(|((at, ..), nth)| *at == 7 * nth));
    }
}
