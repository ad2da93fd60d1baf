//! Images on the host: locked when a run begins, written when it ends.

use std::path::PathBuf;

use super::{Machine, Outcome};
use engine::bus::device::Device;
use engine::dt::fault::BoardFault;

impl Machine {
    /// Begins a run, unless it has begun already: chips lock their images, which no other run gets until this one ends
    /// or the machine is dropped. [`Machine::run`] and [`Machine::advance`] begin and end it themselves.
    ///
    /// # Errors
    /// The images that can't be used, or that another run has. No image is locked then.
    pub fn begin(&mut self) -> Result<(), Vec<BoardFault>> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let faults: Vec<BoardFault> = self.devices().flat_map(|device| device.begin_run()).collect();
        if faults.is_empty() {
            return Ok(());
        }
        self.begun = false;
        self.devices().flat_map(|device| device.images()).for_each(|image| image.release());
        Err(faults)
    }

    /// As [`Machine::begin`]; an error is returned as the end of the run.
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

    /// Ends a run, unless it has ended already: devices are updated to its end, and images are written. Errors of that
    /// are in the report.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.begun) {
            return;
        }
        let now = self.now().min(self.elapsed());
        for device in self.bus.devices.iter_mut().flatten() {
            device.finish(now);
        }
        let failed: Vec<String> = self.devices().flat_map(|device| device.end_run(now)).collect();
        self.failed_saves.extend(failed);
    }

    /// Images that could not be saved at the end of a run, a sentence each, unless a report had them already.
    pub fn take_failed_saves(&mut self) -> Vec<String> {
        std::mem::take(&mut self.failed_saves)
    }

    /// The images of the board's chips: the chip's label, and the path in the board.
    pub fn images(&mut self) -> Vec<(String, PathBuf)> {
        let images = self.devices().flat_map(|device| device.images());
        images.map(|image| (image.label().to_owned(), image.path().to_owned())).collect()
    }

    fn devices(&mut self) -> impl Iterator<Item = &mut dyn Device> {
        self.bus.devices.iter_mut().flatten().map(|device| device.as_mut() as &mut dyn Device)
    }
}
