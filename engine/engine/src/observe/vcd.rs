//! Waveforms as the text of a Value Change Dump (IEEE 1364), one piece at a time.

use std::io;

use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, Writer};

use super::values::{Values, name_of};
use super::waves::{Change, Recorded, Signal, Waves};
use crate::time::Ps;

/// The least size of a piece, except for the last.
const PIECE_BYTES: usize = 1 << 20;

/// The units of time that a dump may have, in picoseconds: 1, 10 and 100 of each.
const UNITS: [(u64, TimescaleUnit); 5] = [
    (1_000_000_000_000, TimescaleUnit::S),
    (1_000_000_000, TimescaleUnit::MS),
    (1_000_000, TimescaleUnit::US),
    (1_000, TimescaleUnit::NS),
    (1, TimescaleUnit::PS),
];

/// The text, from the header on. It ends at an error.
pub struct VcdText {
    changes: Recorded,
    writer: Writer<Vec<u8>>,
    /// By signal: its identifier in the dump, or that of the value that it is a bit of.
    codes: Vec<Option<IdCode>>,
    values: Values,
    /// The identifiers of values.
    value_codes: Vec<IdCode>,
    unit: Ps,
    /// The last time that was written, in units, and the time of the end.
    last: u64,
    end: u64,
    ended: bool,
}

impl VcdText {
    /// True if a dump may have this unit: a power of ten from a picosecond to 100 s.
    pub fn has_unit(unit: Ps) -> bool {
        (0..=14).any(|power| unit.0 == 10u64.pow(power))
    }

    /// The changes of some signals, by their indices in [`Waves::signals`], from the start of the run to `end`, in
    /// units of `unit`, for which [`VcdText::has_unit`] holds. Times that are not a multiple of it are rounded to the
    /// nearest one, and `end` is rounded up.
    ///
    /// # Errors
    /// If the changes cannot be read back.
    pub fn new(waves: &Waves, chosen: &[usize], unit: Ps, end: Ps) -> io::Result<VcdText> {
        let changes = waves.recorded()?;
        let mut writer = Writer::new(Vec::with_capacity(PIECE_BYTES + 100));
        let signals = waves.signals();
        let values = Values::new(&signals, chosen);
        let codes = write_header(&mut writer, &signals, chosen, &values, unit)?;
        let coded = |value| (0..signals.len()).find(|signal| values.value_of(*signal) == Some(value));
        let value_codes = (0..values.count()).filter_map(|value| codes[coded(value)?]).collect();
        let end = end.0.div_ceil(unit.0);
        Ok(VcdText { changes, writer, codes, values, value_codes, unit, last: 0, end, ended: false })
    }

    fn write(&mut self, change: Change) -> io::Result<()> {
        let Some(code) = self.codes[change.signal as usize] else { return Ok(()) };
        let at = (change.at.0 + self.unit.0 / 2) / self.unit.0;
        if at != self.last {
            self.write_values()?;
            self.last = at;
            self.writer.timestamp(at)?;
        }
        if self.values.set(change.signal as usize, change.level) {
            return Ok(());
        }
        self.writer.change_scalar(code, change.level)
    }

    /// Writes values that changed at the last time, each once.
    fn write_values(&mut self) -> io::Result<()> {
        while let Some(value) = self.values.take_changed() {
            self.writer.change_vector(self.value_codes[value], self.values.bits(value).map(Value::from))?;
        }
        Ok(())
    }

    fn piece(&mut self) -> io::Result<Vec<u8>> {
        while self.writer.writer().len() < PIECE_BYTES {
            let Some(change) = self.changes.next() else {
                self.ended = true;
                self.write_values()?;
                if self.end > self.last {
                    self.writer.timestamp(self.end)?;
                }
                break;
            };
            self.write(change?)?;
        }
        let room = Vec::with_capacity(PIECE_BYTES + 100);
        Ok(std::mem::replace(self.writer.writer(), room))
    }
}

impl Iterator for VcdText {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        if self.ended {
            return None;
        }
        let piece = self.piece();
        self.ended |= piece.is_err();
        Some(piece)
    }
}

/// Writes the header, and the levels at time 0. It has no date: the same run gives the same text.
fn write_header(
    writer: &mut Writer<Vec<u8>>,
    signals: &[Signal],
    chosen: &[usize],
    values: &Values,
    unit: Ps,
) -> io::Result<Vec<Option<IdCode>>> {
    let (base, name) = UNITS.into_iter().find(|(ps, _)| *ps <= unit.0).unwrap_or(UNITS[UNITS.len() - 1]);
    writer.version("Cyclescope")?;
    writer.timescale((unit.0 / base) as u32, name)?;
    let mut codes = vec![None; signals.len()];
    for (nth, index) in chosen.iter().enumerate() {
        let scope = &signals[*index].scope;
        if chosen[..nth].iter().any(|earlier| signals[*earlier].scope == *scope) {
            continue;
        }
        writer.add_module(scope)?;
        for index in chosen[nth..].iter().filter(|index| signals[**index].scope == *scope) {
            let value = values.value_of(*index);
            codes[*index] = match values.declared_by(*index) {
                Some(bits) => Some(writer.add_wire(bits as u32, name_of(&signals[*index]))?),
                None if value.is_none() => Some(writer.add_wire(1, &signals[*index].name)?),
                None => chosen.iter().find(|other| values.value_of(**other) == value).and_then(|first| codes[*first]),
            };
        }
        writer.upscope()?;
    }
    writer.enddefinitions()?;
    writer.timestamp(0)?;
    writer.begin(SimulationCommand::Dumpvars)?;
    for (index, signal) in signals.iter().enumerate() {
        let Some(code) = codes[index] else { continue };
        match (values.value_of(index), values.declared_by(index)) {
            (None, _) => writer.change_scalar(code, Value::from(signal.first))?,
            (Some(value), Some(_)) => writer.change_vector(code, values.bits(value).map(Value::from))?,
            _ => {}
        }
    }
    writer.end()?;
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(waves: &Waves, unit: u64, end: u64) -> String {
        let pieces = VcdText::new(waves, &[0, 1, 2], Ps(unit), Ps(end)).unwrap().map(Result::unwrap);
        String::from_utf8(pieces.flatten().collect()).unwrap()
    }

    fn two_buses() -> Waves {
        let waves = Waves::default();
        let wires = [("spi0", "sck"), ("radio", "irq"), ("spi0", "cs0")]
            .map(|(scope, name)| waves.signal(scope, name, name == "cs0"));
        waves.start();
        for (wire, at, level) in [(2, 20_000, false), (0, 30_000, true), (0, 40_000, false), (1, 40_000, true)] {
            waves.set(wires[wire], Ps(at), level);
        }
        waves
    }

    #[test]
    fn a_dump_has_scopes_first_levels_and_changes() {
        let header = "$version\n    Cyclescope\n$end\n$timescale 10 ns $end\n\
                      $scope module spi0 $end\n$var wire 1 ! sck $end\n$var wire 1 \" cs0 $end\n$upscope $end\n\
                      $scope module radio $end\n$var wire 1 # irq $end\n$upscope $end\n\
                      $enddefinitions $end\n#0\n$dumpvars\n0!\n0#\n1\"\n$end\n";
        let changes = "#2\n0\"\n#3\n1!\n#4\n0!\n1#\n#6\n";
        assert_eq!(text(&two_buses(), 10_000, 50_001), format!("{header}{changes}"));
    }

    #[test]
    fn times_are_rounded_to_the_nearest_unit() {
        let dump = text(&two_buses(), 100_000, 40_000);
        assert!(dump.contains("$timescale 100 ns $end"));
        assert!(dump.ends_with("$end\n0\"\n1!\n0!\n1#\n#1\n"), "{dump}");
        assert!(text(&two_buses(), 1, 0).ends_with("#20000\n0\"\n#30000\n1!\n#40000\n0!\n1#\n"));
    }

    #[test]
    fn bits_of_a_value_are_one_variable() {
        let waves = Waves::default();
        let bits = [0, 1, 2].map(|bit| waves.signal("dac", &format!("out1[{bit}]"), bit == 1));
        waves.start();
        for (bit, at, level) in [(0, 1000, true), (2, 1000, true), (0, 3000, false)] {
            waves.set(bits[bit], Ps(at), level);
        }
        let text = text(&waves, 1000, 5000);
        assert!(text.contains("$var wire 3 ! out1 $end"), "{text}");
        assert!(text.contains("#0\n$dumpvars\nb010 !\n$end\n#1\nb111 !\n#3\nb110 !\n#5\n"), "{text}");
    }
}
