//! Waveforms in a snapshot: the levels before the recording, and all changes so far, including those in the file. Where
//! later changes go, to memory or to a file, is not part of it.

use std::io;
use std::sync::atomic::Ordering;

use super::{Change, Recording, Waves};
use crate::state::{Damaged, Fresh, Loader, Saver, State};

impl State for Waves {
    fn save(&self, to: &mut Saver) {
        self.recording().save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let mut recording = self.recording();
        recording.load(from)?;
        self.0.on.store(recording.on || recording.live.is_followed(), Ordering::Relaxed);
        Ok(())
    }
}

impl State for Recording {
    fn save(&self, to: &mut Saver) {
        to.begin("Waves");
        to.field("on");
        (self.on, self.ended).save(to);
        to.field("levels");
        self.signals.iter().map(|signal| signal.first).collect::<Vec<bool>>().save(to);
        to.field("left_out");
        self.left_out.save(to);
        to.field("moved");
        self.moved.save(to);
        // A file that can't be read is treated like one that can't be written: its changes are lost.
        let spooled = self.spool.as_ref().map_or(Ok(Vec::new()), |spool| spool.runs());
        let lost = self.failure.as_ref().or(spooled.as_ref().err()).map(io::Error::to_string);
        to.field("spooled");
        spooled.unwrap_or_default().save(to);
        to.field("failure");
        lost.save(to);
        to.field("kept");
        self.kept.save(to);
        to.field("counts");
        (self.changes, self.dropped).save(to);
        to.field("unit");
        self.unit.save(to);
        to.end();
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        (self.on, self.ended) = Fresh::loaded(from)?;
        let levels: Vec<bool> = Fresh::loaded(from)?;
        // The signals come from the board.
        if levels.len() != self.signals.len() {
            return Err(Damaged);
        }
        self.signals.iter_mut().zip(levels).for_each(|(signal, level)| signal.first = level);
        self.left_out.load(from)?;
        self.moved.load(from)?;
        let spooled: Vec<Vec<Change>> = Fresh::loaded(from)?;
        let failure: Option<String> = Fresh::loaded(from)?;
        self.failure = failure.map(io::Error::other);
        self.kept.load(from)?;
        let signals = self.signals.len() as u32;
        let is_known = |change: &Change| change.signal & !super::COUNTED < signals;
        if !spooled.iter().flatten().chain(&self.kept).all(is_known) {
            return Err(Damaged);
        }
        match &mut self.spool {
            Some(spool) => {
                spool.empty();
                for run in &spooled {
                    if let Err(failure) = spool.write_run(run) {
                        self.failure.get_or_insert(failure);
                    }
                }
            }
            // The order of changes is kept.
            None => self.kept.splice(0..0, spooled.into_iter().flatten()).for_each(drop),
        }
        (self.changes, self.dropped) = Fresh::loaded(from)?;
        self.unit.load(from)
    }
}
