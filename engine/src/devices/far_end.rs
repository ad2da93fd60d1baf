//! The other end of a UART's line, as a device of the bus that no address reaches: it brings characters to the UART at
//! the line's own rate, one after the other without a pause, and lets a script go on as time passes.
//!
//! The UART says when a character that begins now has been received, at its own settings; while its receiver takes
//! none (it has no baud rate, is off, or holds the line by RTS), the far end waits.
//!
//! A script drives pins, too, and waits for them. One that has to do with nothing else is at no line.

use crate::activity::{Detail, Kind};
use crate::bus::Bus;
use crate::bus::device::FAR_END_LOOKS;
use crate::bus::device::{AccessSize, Ctx, Device, DeviceId, Reply, SlaveError};
use crate::bus::lines::Failure;
use crate::devices::support::activities;
use crate::serial::script::{Pins, Progress};
use crate::serial::{FarEnd, Passage};
use crate::state::State;
use crate::time::Ps;
use crate::wires::Pin;

// Tokens 0 and 1 are others': to look (FAR_END_LOOKS), and the end of a step of the machine.
const RECEIVED: u32 = 2;
const LINE_FREE: u32 = 3;
const DEADLINE: u32 = 4;

/// The device.
#[derive(Debug, State)]
pub struct FarEndDevice {
    #[state(skip)]
    uart: DeviceId,
    end: FarEnd,
    on_line: Option<(u8, Passage)>,
    /// When the script wants to be called at the latest, and has asked for.
    deadline: Option<Ps>,
    /// The script has ended the run.
    ended: bool,
}

/// The board's pins at a time, as a script has them.
struct At<'a> {
    bus: &'a mut Bus,
    now: Ps,
}

impl Pins for At<'_> {
    fn level(&self, pin: Pin) -> bool {
        self.bus.wires.level(pin)
    }

    fn drive(&mut self, pin: Pin, level: Option<bool>) {
        self.bus.drive_pin(pin, level, self.now);
    }
}

impl FarEndDevice {
    /// At the line of `uart`, which is the device itself where it is at none.
    pub fn new(uart: DeviceId, end: FarEnd) -> FarEndDevice {
        FarEndDevice { uart, end, on_line: None, deadline: None, ended: false }
    }

    fn go_on(&mut self, ctx: &mut Ctx) {
        self.end.come_to(ctx.now);
        while let Some(character) = ctx.bus.lines.take_heard(ctx.id, ctx.now) {
            self.end.hear(character);
        }
        if !self.ended {
            match self.end.go_on(ctx.now, &mut At { now: ctx.now, bus: ctx.bus }) {
                Progress::Waits(until) => self.wait(until, ctx),
                Progress::Ends(status) => {
                    self.ended = true;
                    ctx.exit(status);
                }
                Progress::Failed(text) => {
                    self.ended = true;
                    ctx.bus.lines.failure.get_or_insert(Failure(text));
                    ctx.exit(1);
                }
            }
        }
        if !self.end.is_sending() && !self.ended {
            self.begin(ctx);
        }
    }

    fn wait(&mut self, until: Option<Ps>, ctx: &mut Ctx) {
        if self.deadline != until {
            ctx.bus.events.cancel(ctx.id, DEADLINE);
            self.deadline = until;
            if let Some(until) = until {
                ctx.schedule(until, DEADLINE);
            }
        }
    }

    /// Has the next character begin, if there is one and the UART takes it.
    fn begin(&mut self, ctx: &mut Ctx) {
        if self.end.waiting() == 0 {
            return;
        }
        let passage = ctx.bus.with_device(self.uart, ctx.now, |uart, ctx| uart.serial_port()?.begin(ctx));
        ctx.bus.lines.hold(ctx.id, passage.is_none());
        if let Some(passage) = passage
            && let Some(character) = self.end.take()
        {
            self.on_line = Some((character, passage));
            if ctx.records(Kind::Serial) {
                let detail = Detail::Value(character.into());
                ctx.bus.scope(self.uart).span(&activities::RECEIVED, ctx.now, passage.received, detail);
            }
            ctx.schedule(passage.received, RECEIVED);
        }
    }

    fn received(&mut self, ctx: &mut Ctx) {
        let Some((character, passage)) = self.on_line else { return };
        ctx.bus.with_device(self.uart, ctx.now, |uart, ctx| {
            if let Some(port) = uart.serial_port() {
                port.receive(character, ctx);
            }
        });
        if passage.ends > ctx.now {
            ctx.schedule(passage.ends, LINE_FREE);
        } else {
            self.end.passed();
        }
    }
}

impl Device for FarEndDevice {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Err(SlaveError { done: ctx.now })
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Err(SlaveError { done: ctx.now })
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        match token {
            RECEIVED => self.received(ctx),
            LINE_FREE => self.end.passed(),
            DEADLINE => self.deadline = None,
            // FAR_END_LOOKS, or the end of a step.
            _ => {}
        }
        self.go_on(ctx);
    }

    fn pins_changed(&mut self, port: DeviceId, changed: u32, levels: u32, ctx: &mut Ctx) {
        // Whoever has changed them is still being called.
        if self.end.pins_changed(port, changed, levels) && !self.ended {
            ctx.schedule(ctx.now, FAR_END_LOOKS);
        }
    }

    fn far_end(&mut self) -> Option<&mut FarEnd> {
        Some(&mut self.end)
    }
}
