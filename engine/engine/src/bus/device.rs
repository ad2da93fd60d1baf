//! The interface of device models, and what they may use while the bus calls them.

use crate::activity::{Detail, Kind, Scope, What};
use crate::bus::Bus;
use crate::bus::can::{CanBus, CanNode};
use crate::bus::repeated_reads::RepeatedReads;
use crate::dt::fault::BoardFault;
use crate::dt::wiring::ClockId;
pub use crate::dt::wiring::{DeviceId, IrqLine, PortId};
use crate::host_image::HostImage;
use crate::memory::outer::OuterCache;
use crate::observe::unmodelled::Touched;
use crate::order::CoreStart;
use crate::pins::PINS_OF_PORT;
use crate::pins::parts::{Key, Light};
use crate::pipe::Pipe;
use crate::polling::{Poll, Polled};
use crate::serial::wave::{Errors, Format};
use crate::serial::{FarEnd, Passage};
use crate::state::{Fresh, State};
use crate::time::{Hz, Ps};
use crate::wire::can::Frame;
use crate::wire::spi::SpiTarget;

/// Width of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessSize {
    /// 8 bits.
    Byte = 1,
    /// 16 bits.
    Half = 2,
    /// 32 bits.
    Word = 4,
}

impl AccessSize {
    /// The access size of `bytes` bytes.
    #[inline]
    pub const fn of_bytes(bytes: u32) -> Option<AccessSize> {
        match bytes {
            1 => Some(AccessSize::Byte),
            2 => Some(AccessSize::Half),
            4 => Some(AccessSize::Word),
            _ => None,
        }
    }

    /// Width in bytes.
    #[inline]
    pub const fn bytes(self) -> u32 {
        self as u32
    }

    /// The value that a read at `offset` gets from a register of 32 bits: the bytes on its lanes, right-aligned.
    #[inline]
    pub const fn extracted(self, register: u32, offset: u32) -> u32 {
        register >> (8 * (offset % 4)) & u32::MAX >> (32 - 8 * self.bytes())
    }

    /// A register of 32 bits after a write of `value` at `offset` on its byte lanes: the other lanes stay as in
    /// `register`.
    #[inline]
    pub const fn merged(self, register: u32, offset: u32, value: u32) -> u32 {
        let shift = 8 * (offset % 4);
        let lanes = (u32::MAX >> (32 - 8 * self.bytes())) << shift;
        register & !lanes | value << shift & lanes
    }
}

/// A device's answer to an access: the value, and when the access completes at the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What was read, right-aligned; 0 for a write.
    pub value: u32,
    /// When the device answers: `now` of the request or later.
    pub done: Ps,
}

impl Reply {
    /// An answer with a value.
    #[inline]
    pub const fn read(value: u32, done: Ps) -> Reply {
        Reply { value, done }
    }

    /// The answer to a write.
    #[inline]
    pub const fn written(done: Ps) -> Reply {
        Reply { value: 0, done }
    }
}

/// A device answers an access with a bus error (AXI SLVERR): the core takes an access fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlaveError {
    /// When the error response comes.
    pub done: Ps,
}

/// What a device answers to an access.
pub type AccessResult = Result<Reply, SlaveError>;

/// A memory-mapped device. Offsets count from the start of the `reg` range named by `range` (0 for most devices).
///
/// Calls come in the order of their times. State that depends on time alone (a busy flag, a counter) is brought up to
/// `ctx.now` at the start of each call, so that no call sees the past.
pub trait Device: State + Polled + Send {
    /// A load. `offset` is aligned to `size`. A device without an address has no loads and no stores.
    ///
    /// # Errors
    /// [`SlaveError`] where the datasheet says that the device answers with an error.
    fn read(&mut self, _range: usize, _offset: u32, _size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    /// A store of the low `size` bytes of `value`.
    ///
    /// # Errors
    /// As for [`Device::read`].
    fn write(&mut self, _range: usize, _offset: u32, _size: AccessSize, _value: u32, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    /// True if a load of the register at `offset` takes data out, or counts: the next load returns other data. A loop
    /// of loads without this effect is a wait.
    fn pops(&self, _range: usize, _offset: u32) -> bool {
        false
    }

    /// True if a load of the register at `offset` shows whether a transfer with a chip is over, and also the chip's
    /// answer.
    fn shows_answers(&self, _range: usize, _offset: u32) -> bool {
        false
    }

    /// The board leaves reset, at time 0: a device that acts from then on by itself asks for its first event.
    fn reset(&mut self, _ctx: &mut Ctx) {}

    /// An event that the device scheduled is due: `ctx.now` is the time at which it was due.
    fn event(&mut self, _token: u32, _ctx: &mut Ctx) {}

    /// An interrupt line that ends at this device (an interrupt controller's input) changes its level.
    fn irq_input(&mut self, _input: u32, _level: bool, _ctx: &mut Ctx) {}

    /// Clocks that the device follows run at other rates from `ctx.now` on: `ctx.bus.clocks` has these
    /// ([`crate::clocks::Clocks::rate_of`]). The device updates its state to now by the old rates, takes the new ones,
    /// and asks for its events again.
    fn clocks_changed(&mut self, _ctx: &mut Ctx) {}

    /// Wires at pins of `port` changed at `ctx.now`: pins of another device that this one watches, or its own pins,
    /// driven by parts wired to them. `levels` has the new levels of the pins in `changed`.
    fn pins_changed(&mut self, _port: PortId, _changed: u32, _levels: u32, _ctx: &mut Ctx) {}

    /// Pins that may carry signals of this device got other functions at `ctx.now`
    /// (`devices::support::pin_functions`).
    fn pins_switched(&mut self, _ctx: &mut Ctx) {}

    /// `port` is about to read its wires: those that this device drives with a delay are brought up to `ctx.now`.
    fn pins_sampled(&mut self, _port: PortId, _ctx: &mut Ctx) {}

    /// Bytes of a range that can be executed or cached (an execute-in-place window), without timing or side effects:
    /// copied to `into`. `false` if the range holds registers, not memory.
    fn peek(&self, _range: usize, _offset: u32, _into: &mut [u8]) -> bool {
        false
    }

    /// Stores bytes in such a range as a programmer or a debugger does before the run: without time, and regardless of
    /// the present contents. `false`, with nothing stored, where that cannot be done. Only asked where [`Device::peek`]
    /// holds.
    fn preload(&mut self, _range: usize, _offset: u32, _bytes: &[u8]) -> bool {
        false
    }

    /// The host's address of the bytes of such a range, for ranges whose reads may take no time
    /// ([`crate::memory::line_buffers`]). The bytes stay there for as long as the device lives, and nobody holds a
    /// reference into them.
    fn host_bytes(&self, _range: usize) -> Option<*const u8> {
        None
    }

    /// A burst read of `bytes` (a cache line fill): when its last byte arrives. Only asked where [`Device::peek`]
    /// holds.
    ///
    /// # Errors
    /// As for [`Device::read`].
    fn burst(&mut self, _range: usize, _offset: u32, _bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        Err(SlaveError { done: ctx.now })
    }

    /// The clock that [`Device::read_alone`] counts in.
    fn own_clock(&self) -> Option<Hz> {
        None
    }

    /// As [`Device::read`] for up to 4 bytes, aligned, and as [`Device::burst`] for more, where the read has no effect
    /// beyond the device: no event, no interrupt, no note. The request arrives at edge `edge` of [`Device::own_clock`];
    /// returns the value read, and the edge of the answer. `None` where there may be such effects: the read that is
    /// made instead then starts from the state that this call has left.
    fn read_alone(&mut self, _range: usize, _offset: u32, _bytes: u32, _edge: u64) -> Option<(u32, u64)> {
        None
    }

    /// Offers repeated reads of `bytes` from a range, each with the result of [`Device::read_alone`]. From the first
    /// call on, the device keeps the [`ReadRecord`](super::repeated_reads::ReadRecord), and takes the reads recorded in
    /// it into account at the start of each other call.
    fn repeated_reads(&mut self, _range: usize, _bytes: u32) -> Option<RepeatedReads> {
        None
    }

    /// Takes recorded repeated reads into account, so that totals include them.
    fn learn(&mut self) {}

    /// True where the device takes the beats of a burst one a clock and pays its latency once; else each beat is an
    /// access of its own (an AXI4-Lite slave at a protocol converter).
    fn streams(&self, _range: usize, _offset: u32) -> bool {
        false
    }

    /// The second-level cache whose registers the device has: passed to the bus once, when the machine is built.
    fn outer_cache(&mut self) -> Option<OuterCache> {
        None
    }

    /// True for a device some of whose registers are system registers of the cores: see [`Device::core_register`].
    fn has_core_registers(&self) -> bool {
        false
    }

    /// An instruction reads such a register, or writes `written` to it, at `ctx.now`. Returns the value read (0 for a
    /// write), or `None` where there is no such register.
    fn core_register(&mut self, _register: CoreRegister, _written: Option<u64>, _ctx: &mut Ctx) -> Option<u64> {
        None
    }

    /// The value that a read of such a register gives at any time, if the register only counts the time: it grows, and
    /// nothing that firmware does changes it.
    fn count_at(&self, _register: CoreRegister, _at: Ps) -> Option<u64> {
        None
    }

    /// True for a model of the firmware that a core's smc calls: see [`Device::firmware_call`].
    fn is_firmware(&self) -> bool {
        false
    }

    /// An instruction calls the firmware at `ctx.now`, by the SMC calling convention (Arm DEN0028): a function's number
    /// and its first parameters. `None` where the device is no firmware.
    fn firmware_call(&mut self, _function: u32, _parameters: [u32; 3], _ctx: &mut Ctx) -> Option<FirmwareCall> {
        None
    }

    /// True for the interrupt of a core's performance monitors: see [`Device::counter_interrupt`].
    fn is_counter_interrupt(&self) -> bool {
        false
    }

    /// The interrupt of a core's performance monitors has this level at `ctx.now`. At `_look`, an event has to come:
    /// the core computes the level again when it runs on.
    fn counter_interrupt(&mut self, _level: bool, _look: Option<Ps>, _ctx: &mut Ctx) {}

    /// True if the device makes accesses of its own (DMA).
    fn is_master(&self) -> bool {
        false
    }

    /// True for a device that passes on interrupts, requests or levels of pins: the effects are attributed to the
    /// device that they come from.
    fn passes_interrupts(&self) -> bool {
        false
    }

    /// The run is over: the device updates its state to the end.
    fn finish(&mut self, _now: Ps) {}

    /// The chips on the device's wires.
    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        Vec::new()
    }

    /// Images on the host: those of the device's chips, or its own.
    fn images(&mut self) -> Vec<&mut HostImage> {
        self.chips().into_iter().filter_map(|chip| chip.image()).collect()
    }

    /// A run begins: images are taken ([`HostImage::take`]). Returns the faults.
    fn begin_run(&mut self) -> Vec<BoardFault> {
        let begin = |chip: &mut dyn SpiTarget| {
            let error = chip.begin_run().err()?;
            chip.image().map(|image| image.fault(&error))
        };
        self.chips().into_iter().filter_map(begin).collect()
    }

    /// The run is over: images are written, and released. Returns the failures, a sentence each.
    fn end_run(&mut self, now: Ps) -> Vec<String> {
        let end = |chip: &mut dyn SpiTarget| {
            let result = chip.finish(now);
            let image = chip.image()?;
            image.release();
            result.err().map(|error| image.failure(&error))
        };
        self.chips().into_iter().filter_map(end).collect()
    }

    /// Bytes that the firmware wrote to the device's serial line, if it has one, and that are not sent yet.
    fn unsent(&self) -> Unsent {
        Unsent::default()
    }

    /// The firmware has ended: sends on the serial line up to `ctx.now`, a time that [`Device::unsent`] has returned.
    fn send_on(&mut self, _ctx: &mut Ctx) {}

    /// The device as a serial port that can receive, if it is one.
    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        None
    }

    /// The far end of a serial line, from the device that stands for it.
    fn far_end(&mut self) -> Option<&mut FarEnd> {
        None
    }

    /// Number of pins of a port.
    fn pin_count(&self) -> u32 {
        PINS_OF_PORT
    }

    /// Lights that the device stands for, with their history up to `now`.
    fn lights(&self, _now: Ps) -> Vec<Light> {
        Vec::new()
    }

    /// Buttons that the device stands for.
    fn keys(&self) -> &[Key] {
        &[]
    }

    /// The device as a node of a CAN bus, if it is one.
    fn can_node(&mut self) -> Option<&mut dyn CanNode> {
        None
    }

    /// The device as a CAN bus, if it is one.
    fn can_bus(&mut self) -> Option<&mut dyn CanBus> {
        None
    }

    /// The queue for a CAN frame, and the number of the filter that accepts it; `None` if none does. `is_second`
    /// selects the second one of two nodes that share the device's filters.
    fn can_filter(&self, _frame: &Frame, _is_second: bool) -> Option<(usize, u8)> {
        None
    }

    /// The words that the firmware wrote as results, in order, from a device that takes results; `None` from all
    /// others.
    fn results(&self) -> Option<&[u32]> {
        None
    }

    /// The device's pipe to the host. The host's bytes come with an event.
    fn pipe(&mut self) -> Option<&mut Pipe> {
        None
    }

    /// Names of the flags that raise its interrupt now, for the user; `None` if the device has no such names.
    fn interrupt_flags(&self) -> Option<String> {
        None
    }

    /// Named totals since reset, for the results.
    fn counters(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Registers that the firmware accessed and that have no model, by ranges and offsets.
    fn unmodelled(&self) -> Vec<Touched> {
        Vec::new()
    }

    /// Loads of a word without a model, by its range and offset, return this value from now on; `None`: the stored
    /// word.
    fn answer_instead(&mut self, _instead: Option<((usize, u32), u32)>) {}
}

/// Characters on their way over a serial line.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct Unsent {
    /// The characters; the first one is on the line.
    pub characters: Vec<u8>,
    /// When the next one of them begins or ends; `None` if that never happens, as without a baud rate.
    pub next_change: Option<Ps>,
}

/// The reaction of a serial port to a received character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhenReceived {
    /// Nothing that a core would notice by itself: the receiver or its interrupt is off.
    Nothing,
    /// It raises these interrupts.
    Raises(Vec<IrqLine>),
    /// It requests a transfer by a DMA controller, which may raise an interrupt.
    AsksDma,
}

impl WhenReceived {
    /// An interrupt, if that is `on`.
    #[inline]
    pub fn raises(on: bool, line: Option<IrqLine>) -> WhenReceived {
        if on { WhenReceived::Raises(line.into_iter().collect()) } else { WhenReceived::Nothing }
    }
}

/// The receiver of a UART. It calls [`Ctx::line_changed`] whenever it can take characters again that
/// [`SerialPort::begin`] refused (a new baud rate, its enable bit, room for a character where flow control holds the
/// sender).
pub trait SerialPort {
    /// A character begins on the receive line at `ctx.now`: the time at which it will have been received, at the line's
    /// present settings. `None` while the receiver takes no characters: the sender waits then. A character for a
    /// receiver without a pin is lost ([`Passage::lost`]).
    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage>;

    /// The character has been received, at `ctx.now`.
    fn receive(&mut self, character: u8, ctx: &mut Ctx);

    /// The reaction to a character: sleeping firmware may wait for it.
    fn when_received(&self) -> WhenReceived {
        WhenReceived::Nothing
    }

    /// The character format that the receiver expects, at the line's present settings, if it has any.
    fn format(&self) -> Option<Format> {
        None
    }

    /// As [`SerialPort::receive`], for a character that differs from the one sent: the line has another format than the
    /// UART.
    fn receive_damaged(&mut self, character: u8, _errors: Errors, ctx: &mut Ctx) {
        self.receive(character, ctx);
    }
}

/// A system register that instructions of a core name (Arm: those of coprocessor 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreRegister {
    /// Of 32 bits: CRn, opc1, CRm, opc2.
    Single(u32, u32, u32, u32),
    /// Of 64 bits: CRm, opc1.
    Double(u32, u32),
}

/// The outcome of a call of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirmwareCall {
    /// Cycles of the calling core that the call takes.
    pub cycles: u64,
    /// A core that is held in reset, by its index, and where it begins at the end of the call.
    pub starts: Option<(usize, CoreStart)>,
    /// What follows then.
    pub then: FirmwareAnswer,
}

/// The core's state after a call of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirmwareAnswer {
    /// It goes on with this result.
    Value(u32),
    /// It waits for an interrupt, as in wfi, then goes on with this result.
    WaitForInterrupt(u32),
    /// It is off until another core starts it.
    Off,
    /// The run ends with this status: the board is off, or in reset.
    Exit(i32),
}

/// The event that a device waits for: asked for once, however often the device finds that it needs it.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
pub struct Alarm {
    due: Option<Ps>,
}

/// An event in the queue ends the skipping of a loop anyway.
impl Polled for Alarm {
    fn polled(&mut self, _: &mut Poll) -> bool {
        true
    }
}

impl Alarm {
    /// Asks for [`Device::event`] with `token` at `due`, unless one comes by then.
    #[inline]
    pub fn set(&mut self, due: Ps, token: u32, ctx: &mut Ctx) {
        if self.due.is_none_or(|earlier| due < earlier) {
            if self.due.is_some() && ctx.bus.events.are_many() {
                ctx.bus.events.cancel(ctx.id, token);
            }
            self.due = Some(due);
            ctx.schedule(due, token);
        }
    }

    /// Cancels the wait under `token`, which is the token of all calls of [`Alarm::set`].
    #[inline]
    pub fn cancel(&mut self, token: u32, ctx: &mut Ctx) {
        if self.due.take().is_some() {
            ctx.bus.events.cancel(ctx.id, token);
        }
    }

    /// [`Alarm::set`] for a time, or for now if that has passed; without a time, [`Alarm::cancel`].
    #[inline]
    pub fn follow(&mut self, due: Option<Ps>, token: u32, ctx: &mut Ctx) {
        match due {
            Some(due) => self.set(due.max(ctx.now), token, ctx),
            None => self.cancel(token, ctx),
        }
    }

    /// An event has come at `now`, which may be after its due time where another core's access came first: to be called
    /// first in [`Device::event`].
    #[inline]
    pub fn rang(&mut self, now: Ps) {
        self.due = self.due.filter(|due| *due > now);
    }
}

/// Why a device ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct ExitRequest {
    /// Exit status of the firmware.
    pub code: i32,
    /// Time of the request.
    pub at: Ps,
}

/// The token of the event at which a line's far end looks for work.
pub const FAR_END_LOOKS: u32 = 0;

/// What a device may use during a call: the time, and the rest of the machine.
pub struct Ctx<'a> {
    /// The time of the access or event.
    pub now: Ps,
    /// The device being called.
    pub id: DeviceId,
    /// The core that makes the access, by its index in the machine; `None` in an event or a call by another device.
    pub core: Option<usize>,
    /// The rest of the machine; the device itself is not reachable through it.
    pub bus: &'a mut Bus,
}

impl Ctx<'_> {
    /// The label of the device being called.
    #[inline]
    pub fn label(&self) -> &str {
        &self.bus.device_names[self.id.0 as usize]
    }

    /// Asks for [`Device::event`] with `token` at `due`.
    #[inline]
    pub fn schedule(&mut self, due: Ps, token: u32) {
        self.bus.events.schedule(due, self.id, token);
        self.bus.event_asked_for();
    }

    /// Asks for [`Device::event`] of another device with `token`, now: after the present call.
    #[inline]
    pub fn schedule_for(&mut self, device: DeviceId, token: u32) {
        self.bus.events.schedule(self.now, device, token);
        self.bus.event_asked_for();
    }

    /// Sets rates of clocks from now on. Devices on a changed clock follow before this returns; cores follow after
    /// their present instruction. A controller calls this in an event at the time at which its clocks change.
    #[inline]
    pub fn set_clocks(&mut self, rates: &[(ClockId, Hz)]) {
        self.bus.set_clocks(rates, self.now);
    }

    /// True if activities of this kind are recorded.
    #[inline]
    pub fn records(&self, kind: Kind) -> bool {
        self.bus.activities.records(kind)
    }

    /// The scope of the activities that the device records, for parts of it that no context reaches.
    #[inline]
    pub fn scope(&self) -> Scope {
        self.bus.activities.scope(self.label())
    }

    /// Records that the device does `what` from `begin` to `end`, which may be in the future: [`Scope::span`].
    #[inline]
    pub fn span(&mut self, what: impl Into<What>, begin: Ps, end: Ps, detail: Detail) {
        if self.bus.activities.is_on() {
            self.bus.scope(self.id).span(what, begin, end, detail);
        }
    }

    /// Records a span at edges of a clock: [`Scope::clocked_span`].
    #[inline]
    pub fn clocked_span(&mut self, what: impl Into<What>, clock: Hz, begin: Ps, end: Ps, detail: Detail) {
        if self.bus.activities.is_on() {
            self.bus.scope(self.id).clocked_span(what, clock, begin, end, detail);
        }
    }

    /// Records that the device does `what` from `ctx.now` on, or no longer: [`Scope::level`].
    #[inline]
    pub fn level(&mut self, what: impl Into<What>, on: bool) {
        self.level_with(what, on, || Detail::None);
    }

    /// As [`Ctx::level`], with a detail of the activity that begins.
    #[inline]
    pub fn level_with(&mut self, what: impl Into<What>, on: bool, detail: impl FnOnce() -> Detail) {
        if self.bus.activities.is_on() {
            let (what, now) = (what.into(), self.now);
            let scope = self.bus.scope(self.id);
            if on { scope.begin(what, now, detail()) } else { scope.end(what, now) }
        }
    }

    /// The last recorded `what` of the device ends at `at` instead: [`Scope::ends_instead`].
    #[inline]
    pub fn ends_instead(&mut self, what: impl Into<What>, at: Ps) {
        if self.bus.activities.is_on() {
            self.bus.scope(self.id).ends_instead(what, at);
        }
    }

    /// Records that the device does `what` from now to `due`, as long as that stays the same: [`Scope::awaits`].
    #[inline]
    pub fn awaits(&mut self, what: impl Into<What>, due: Option<Ps>, detail: Detail) {
        if self.bus.activities.is_on() {
            let now = self.now;
            self.bus.scope(self.id).awaits(what, due, now, detail);
        }
    }

    /// The last recorded `what` of the device is aborted at `at`: [`Scope::cut`].
    #[inline]
    pub fn cut(&mut self, what: impl Into<What>, at: Ps) {
        if self.bus.activities.is_on() {
            self.bus.scope(self.id).cut(what, at);
        }
    }

    /// Sets the level of an interrupt line, which is up while any of its devices holds it up.
    #[inline]
    pub fn set_irq(&mut self, line: Option<IrqLine>, level: bool) {
        if let Some(line) = line {
            if level {
                self.bus.event_rates.raised(line, self.id);
            }
            if self.bus.activities.is_on() {
                self.bus.record_irq(self.id, line, level, self.now);
            }
            let level = self.bus.shared_lines.level(line, self.id, level);
            self.bus.interrupt_sources.set(line, self.id, level, self.now);
            self.bus.set_irq(line, level, self.now);
        }
    }

    /// Sends an event to a core: ends its `wfe`, or lets the next one complete at once.
    #[inline]
    pub fn send_event(&mut self, core: u32) {
        self.bus.send_event(core, self.now);
    }

    /// As [`Ctx::set_irq`] for a line on which each change is an interrupt, down as well as up: the line of the system
    /// timer of an M-profile core.
    #[inline]
    pub fn change_irq(&mut self, line: Option<IrqLine>, level: bool) {
        self.set_irq(line, level);
        if let Some(line) = line {
            self.bus.interrupt_sources.change(line, self.id, self.now);
        }
        if let Some(IrqLine::Core { core, .. }) = line.filter(|_| !level) {
            self.bus.interrupt_sources.come(core, self.now, Some(self.id));
        }
    }

    /// Sends bytes to the console of the run, or to the device's own stream where the board has another console.
    #[inline]
    pub fn console(&mut self, bytes: &[u8]) {
        self.console_at(bytes, self.now);
    }

    /// As [`Ctx::console`], where the far end of the line has the bytes at `at`.
    #[inline]
    pub fn console_at(&mut self, bytes: &[u8], at: Ps) {
        if self.bus.lines.console.is_none_or(|console| console == self.id) {
            self.bus.print(bytes);
        } else {
            self.bus.print_on(self.id, bytes);
        }
        self.heard(bytes, at);
    }

    /// Sends bytes to the device's own stream: the output of a line that is not the console.
    #[inline]
    pub fn stream(&mut self, bytes: &[u8]) {
        self.bus.print_on(self.id, bytes);
        self.heard(bytes, self.now);
    }

    fn heard(&mut self, bytes: &[u8], at: Ps) {
        if let Some(far_end) = self.bus.lines.sent(self.id, at, bytes) {
            self.bus.events.schedule(at, far_end, FAR_END_LOOKS);
            self.bus.event_asked_for();
        }
    }

    /// The settings of the device's serial line may let it take characters that it refused.
    #[inline]
    pub fn line_changed(&mut self) {
        if let Some(far_end) = self.bus.lines.release(self.id) {
            self.bus.events.schedule(self.now, far_end, FAR_END_LOOKS);
            self.bus.event_asked_for();
        }
    }

    /// Records, once, a line that the user should know: `what` starts with a lower-case letter and names no device.
    pub fn note(&mut self, what: &str) {
        self.bus.note(self.id, self.now, what);
    }

    /// Ends the run after the current instruction.
    pub fn exit(&mut self, code: i32) {
        if std::mem::take(&mut self.bus.paused) {
            self.bus.exit = None;
        }
        self.bus.exit.get_or_insert(ExitRequest { code, at: self.now });
    }

    /// Ends the run after the current instruction, with the reset of the whole board: everything still in progress is
    /// dropped.
    pub fn exit_by_reset(&mut self, code: i32) {
        self.exit(code);
        self.bus.exit_is_reset |= self.bus.exit.is_some_and(|exit| exit.at == self.now);
    }

    /// Ends the run after the current instruction as a fault: `what` is the reason for the user, in one line.
    pub fn fail(&mut self, what: String) {
        self.exit(1);
        self.bus.failure.get_or_insert(what);
    }

    /// Makes the machine check soon for requests of the host, as after a call that took the host long. Has no other
    /// effect.
    #[inline]
    pub fn look_at_host(&mut self) {
        self.bus.order.break_off(Ps::ZERO);
    }

    /// Makes the machine pause after the current instruction, if it is being run in steps for a pipe.
    #[inline]
    pub fn pause(&mut self) {
        if self.bus.exit.is_none() {
            self.bus.exit = Some(ExitRequest { code: 0, at: self.now });
            self.bus.paused = true;
        }
    }
}
