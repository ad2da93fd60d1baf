//! The other end of a UART's line, as a device on the bus without an address. It sends characters to the UART at the
//! line's rate, one after the other without a pause, and runs its script as time passes.
//!
//! The UART reports when a character that starts now will have been received, at its own settings. While its receiver
//! takes no characters (it has no baud rate, is off, or holds the line by RTS), the far end waits. If the board sets a
//! rate for the line and the UART has other settings, a character is on the wire for the time that the line's rate
//! gives, and the UART receives what its receiver samples from the wire ([`engine::serial::wave`]). If the line leads
//! to no pin of the UART, characters pass and are lost.
//!
//! A script can also drive pins and wait for them. A script that does nothing else needs no line.

use crate::prelude::*;
use crate::support::{activities, scripts};
use engine::activity::Kind;
use engine::bus::Bus;
use engine::bus::device::{DeviceId, FAR_END_LOOKS, PortId, SerialPort};
use engine::pins::Pin;
use engine::serial::script::Pins;
use engine::serial::wave::{Ear, Format};
use engine::serial::{FarEnd, Passage};

// Tokens 0 and 1 have other meanings: FAR_END_LOOKS, and the end of a step of the machine.
const RECEIVED: u32 = 2;
const LINE_FREE: u32 = 3;
const DEADLINE: u32 = 4;
const HEARD: u32 = 5;

/// The far end of a line.
#[derive(Debug, State, Polled)]
#[poll(never = "no loop reads it: it has no address")]
pub struct FarEndDevice {
    #[state(skip)]
    uart: DeviceId,
    end: FarEnd,
    on_line: Option<(u8, Passage)>,
    /// The UART's receiver, for characters in another format than its own.
    ear: Ear,
    /// True if the character on the line comes from [`FarEndDevice::ear`].
    is_damaged: bool,
    /// The latest time at which the script wants to run, for which an event was requested.
    deadline: Option<Ps>,
    /// True if the script has ended the run.
    ended: bool,
}

/// The board's pins at a time, as a script reads them.
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
    /// A far end at the line of `uart`; `uart` is the device itself if it is at no line.
    pub fn new(uart: DeviceId, end: FarEnd) -> FarEndDevice {
        FarEndDevice { uart, end, on_line: None, ear: Ear::default(), is_damaged: false, deadline: None, ended: false }
    }

    fn go_on(&mut self, ctx: &mut Ctx) {
        self.end.come_to(ctx.now);
        while let Some(character) = ctx.bus.lines.take_heard(ctx.id, ctx.now) {
            self.end.hear(character);
        }
        if !self.ended {
            let progress = self.end.go_on(ctx.now, &mut At { now: ctx.now, bus: ctx.bus });
            match scripts::follow(progress, ctx) {
                Some(until) => self.wait(until, ctx),
                None => self.ended = true,
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

    /// Starts the next character, if there is one and the UART takes it.
    fn begin(&mut self, ctx: &mut Ctx) {
        if self.end.waiting() == 0 {
            return;
        }
        let passage = self.with_port(ctx, |port, ctx| port.begin(ctx)).flatten();
        ctx.bus.lines.hold(ctx.id, passage.is_none());
        if let Some(passage) = passage
            && let Some(character) = self.end.take()
        {
            if passage.is_lost {
                let line = ctx.bus.lines.format_of(self.uart);
                return ctx.schedule(line.map_or(passage.ends, |line| ctx.now + line.frame()), LINE_FREE);
            }
            let passage = self.put_on_wire(character, ctx).unwrap_or(passage);
            self.on_line = Some((character, passage));
            if ctx.records(Kind::Serial) {
                let detail = Detail::Value(character.into());
                ctx.bus.scope(self.uart).span(&activities::RECEIVED, ctx.now, passage.received, detail);
            }
            ctx.schedule(passage.received, RECEIVED);
        }
    }

    /// Calls the UART, if it is one.
    fn with_port<T>(&self, ctx: &mut Ctx, call: impl FnOnce(&mut dyn SerialPort, &mut Ctx) -> T) -> Option<T> {
        ctx.bus.with_device(self.uart, ctx.now, |uart, ctx| uart.serial_port().map(|port| call(port, ctx)))
    }

    /// The format of the UART's own settings.
    fn format_of_uart(&self, ctx: &mut Ctx) -> Option<Format> {
        self.with_port(ctx, |port, _| port.format()).flatten()
    }

    /// For a line with a format that the UART does not use: puts a character on the wire for the time that the line's
    /// format gives.
    fn put_on_wire(&mut self, character: u8, ctx: &mut Ctx) -> Option<Passage> {
        self.is_damaged = false;
        let line = ctx.bus.lines.format_of(self.uart)?;
        let own = self.format_of_uart(ctx)?;
        let suits = line.suits(&own);
        if !suits || line.strays_from(&own) {
            ctx.bus.note_format(self.uart, &own, &line, ctx.now);
        }
        if suits && self.ear.is_quiet() {
            return None;
        }
        self.is_damaged = true;
        self.ear.hear(&line, character.into(), ctx.now);
        self.listen(&own, ctx);
        Some(Passage::whole(ctx.now + line.frame()))
    }

    /// Requests an event for the time at which the UART has received a character from the wire.
    fn listen(&self, own: &Format, ctx: &mut Ctx) {
        if let Some(due) = self.ear.next(own) {
            ctx.schedule(due.max(ctx.now), HEARD);
        }
    }

    /// Passes to the UART the characters that it has received from the wire by now.
    fn heard(&mut self, ctx: &mut Ctx) {
        let Some(own) = self.format_of_uart(ctx) else { return };
        let mut has_come = false;
        while let Some(received) = self.ear.take(&own, ctx.now) {
            has_come = true;
            self.with_port(ctx, |port, ctx| port.receive_damaged(received.data as u8, received.errors, ctx));
        }
        if has_come {
            self.listen(&own, ctx);
        }
    }

    fn received(&mut self, ctx: &mut Ctx) {
        let Some((character, passage)) = self.on_line else { return };
        if self.is_damaged {
            return self.end.passed();
        }
        self.with_port(ctx, |port, ctx| port.receive(character, ctx));
        if passage.ends > ctx.now {
            ctx.schedule(passage.ends, LINE_FREE);
        } else {
            self.end.passed();
        }
    }
}

impl Device for FarEndDevice {
    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        match token {
            RECEIVED => self.received(ctx),
            LINE_FREE => self.end.passed(),
            HEARD => self.heard(ctx),
            DEADLINE => self.deadline = None,
            // FAR_END_LOOKS, or the end of a step.
            _ => {}
        }
        self.go_on(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        // The device that changed the pins is still being called.
        if self.end.pins_changed(port, changed, levels) && !self.ended {
            ctx.schedule(ctx.now, FAR_END_LOOKS);
        }
    }

    fn far_end(&mut self) -> Option<&mut FarEnd> {
        Some(&mut self.end)
    }
}
