//! Images on the host: taken when a run begins, written when it ends.

use std::path::PathBuf;

use super::{Machine, Outcome};
use crate::dt::fault::BoardFault;
use crate::wire::spi::SpiTarget;

impl Machine {
    /// A run begins, unless it has already: chips take their images, which no other run has until this one ends or the
    /// machine is dropped. [`Machine::run`] and [`Machine::advance`] begin it themselves, and end it.
    ///
    /// # Errors
    /// The images that can't be used, or that another run has. None is taken then.
    pub fn begin(&mut self) -> Result<(), Vec<BoardFault>> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let mut faults = Vec::new();
        self.each_chip(|chip| {
            if let Err(error) = chip.begin_run() {
                faults.extend(chip.image().map(|image| image.fault(&error)));
            }
        });
        if faults.is_empty() {
            return Ok(());
        }
        self.begun = false;
        self.each_chip(|chip| chip.image().into_iter().for_each(|image| image.release()));
        Err(faults)
    }

    /// As [`Machine::begin`], for a run that ends with what keeps it from beginning.
    pub(super) fn begin_or_fault(&mut self) -> Result<(), Outcome> {
        if let Some(why) = &self.broken {
            return Err(Outcome::Fault(why.clone()));
        }
        if self.bus.follow_recording() {
            self.cores.iter_mut().for_each(|core| core.paths_changed());
        }
        self.begin().map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            Outcome::Fault(lines.join("; "))
        })
    }

    /// A run ends, unless it has already: devices are brought up to its end, and images are written. What could not be
    /// is in the report.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.begun) {
            return;
        }
        let now = self.now().min(self.elapsed());
        for device in self.bus.devices.iter_mut().flatten() {
            device.finish(now);
        }
        let mut failed = Vec::new();
        self.each_chip(|chip| {
            let result = chip.finish(now);
            if let Some(image) = chip.image() {
                failed.extend(result.err().map(|error| image.failure(&error)));
                image.release();
            }
        });
        self.failed_saves.extend(failed);
    }

    /// What could not be saved at the end of a run, a sentence each, unless a report had it already.
    pub fn take_failed_saves(&mut self) -> Vec<String> {
        std::mem::take(&mut self.failed_saves)
    }

    /// The images of the board's chips: the chip's label, and the path as the board names it.
    pub fn images(&mut self) -> Vec<(String, PathBuf)> {
        let mut images = Vec::new();
        self.each_chip(|chip| {
            images.extend(chip.image().map(|image| (image.label().to_owned(), image.path().to_owned())));
        });
        images
    }

    fn each_chip(&mut self, mut call: impl FnMut(&mut dyn SpiTarget)) {
        for device in self.bus.devices.iter_mut().flatten() {
            device.chips().into_iter().for_each(&mut call);
        }
    }
}
