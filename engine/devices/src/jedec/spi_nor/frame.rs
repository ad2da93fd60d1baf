//! A frame from select to deselect: command, address, dummy clocks and data, and the transitions between them.

use super::*;
use engine::wire::spi::Drive;

/// The device ID as bytes of READ ID: the capacity, then the memory type.
const DEVICE_ID_ORDER: [usize; 2] = [2, 1];

/// The meaning of the next clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub(super) enum Phase {
    /// A bit of the command.
    #[default]
    Opcode,
    /// A bit of the address.
    Address,
    /// A bit of the mode byte.
    Mode,
    /// One of `Frame::left` dummy clocks.
    Dummy,
    /// The chip sends data.
    Output(Source),
    /// The chip receives data.
    Input,
    /// The command is complete: with one more clock it is not executed.
    Complete,
    /// The command is ignored, with all clocks up to the deselection.
    Ignored,
}

/// A frame in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, State, Polled)]
pub(super) struct Frame {
    pub phase: Phase,
    /// Width of the phase.
    pub lines: Lines,
    /// Rate of the phase.
    pub rate: Rate,
    pub command: Option<&'static Command>,
    /// Bits of a byte collected so far, or those of the byte still to be sent (left-aligned).
    pub shifter: u8,
    /// The number of bits in `shifter`.
    pub bits: u32,
    pub address: u32,
    /// Address bits that count up during a read; the bits above stay: all address bits, or those of a wrap.
    pub count_mask: u32,
    /// Bytes of the address or dummy clocks still to come.
    pub left: u32,
    /// Bytes of data so far.
    #[poll(skip = "listed by `Flash::list_frame`: a register that repeats does not depend on them")]
    pub data_bytes: u32,
    /// The frame began without a command.
    pub continuing: bool,
    /// XIP confirmation bit, once its clock has passed.
    pub confirmation: Option<bool>,
    /// The mode byte.
    pub mode: Option<u8>,
    /// A clock came after [`Phase::Complete`].
    pub overrun: bool,
    /// True if the controller has sampled the lines since the address.
    pub turned: bool,
    /// Clocks between the address and that.
    pub deaf_clocks: u32,
    /// True if no side drove the lines in some of the `deaf_clocks`, which the controller uses as dummies.
    pub released: bool,
    /// True in a repeated read ([`Flash::start_repeated`]): the controller reads on the chip's lines, at an allowed
    /// clock.
    pub is_repeated: bool,
}

impl Frame {
    fn enter(&mut self, phase: Phase, lines: Lines, rate: Rate) {
        self.phase = phase;
        self.lines = lines;
        self.rate = rate;
        self.bits = 0;
    }

    pub fn opcode(&self) -> u8 {
        self.command.map_or(0, |command| command.opcode)
    }
}

impl Flash {
    /// Takes a byte of command, address or mode, complete at `at`.
    pub(super) fn take_header(&mut self, byte: u8, at: Ps) {
        match self.frame.phase {
            Phase::Opcode => self.decode(byte, at),
            Phase::Mode => {
                self.frame.mode = Some(byte);
                self.begin_dummies();
            }
            _ => {
                let frame = &mut self.frame;
                frame.address = frame.address << 8 | u32::from(byte);
                frame.left -= 1;
                if frame.left == 0 {
                    self.address_complete();
                }
            }
        }
    }

    /// Decodes a command: continues with its address or data, or ignores it.
    fn decode(&mut self, opcode: u8, at: Ps) {
        self.update(at);
        match self.accept(opcode) {
            Ok(command) => self.begin(command),
            Err(why) => {
                self.note_ignored(opcode, &why);
                self.frame.phase = Phase::Ignored;
            }
        }
    }

    /// The command with this code, or why the chip does not accept it now.
    fn accept(&self, opcode: u8) -> Result<&'static Command, String> {
        let protocol = self.registers.protocol();
        let known = self.part.family.commands.find(opcode).filter(|command| command.exists_in(protocol));
        let Some(command) = known else {
            return Err(format!("the {} has no such command in this protocol", self.part.name));
        };
        if self.asleep && command.action != Action::Read(Source::DeviceId) {
            return Err("the chip is in deep power-down (ABh ends it)".to_owned());
        }
        if let Some(with) = self.busy_with()
            && !command.action.works_while_busy()
        {
            return Err(format!("the chip is busy with a {with}"));
        }
        if command.needs_quad && !self.registers.quad_enabled() {
            return Err("quad data lines are not enabled (CR1V, bit 1)".to_owned());
        }
        Ok(command)
    }

    /// Starts `command`; its address comes next, if it has one.
    pub(super) fn begin(&mut self, command: &'static Command) {
        let protocol = self.registers.protocol();
        self.frame.command = Some(command);
        if let Some(lines) = command.address {
            self.frame.enter(Phase::Address, lines_in(protocol, lines), command.rate);
            self.frame.left = 3;
        } else {
            self.begin_dummies();
        }
    }

    fn address_complete(&mut self) {
        let Some(command) = self.frame.command else { return };
        let size_mask = self.part.size_bytes - 1;
        self.frame.address &= size_mask;
        let wrap = (self.registers.set.wrap_bytes)(&self.registers, command);
        self.frame.count_mask = wrap.map_or(size_mask, |bytes| bytes - 1);
        if command.mode {
            self.frame.phase = Phase::Mode;
        } else {
            self.begin_dummies();
        }
    }

    fn begin_dummies(&mut self) {
        let Some(command) = self.frame.command else { return };
        match self.registers.dummy_clocks(command.dummies) {
            0 => self.begin_data(command),
            clocks => {
                let lines = self.frame.lines;
                self.frame.enter(Phase::Dummy, lines, Rate::Single);
                self.frame.left = clocks;
            }
        }
    }

    fn begin_data(&mut self, command: &'static Command) {
        let lines = lines_in(self.registers.protocol(), command.data);
        let phase = match command.action {
            Action::Read(source) => Phase::Output(source),
            Action::Write(_) | Action::Program | Action::ProgramOtp => {
                self.buffer.fill(0xff);
                Phase::Input
            }
            _ => Phase::Complete,
        };
        self.frame.enter(phase, lines, command.rate);
    }

    /// `clocks` dummy clocks, at most those that are left; IO0's level in the first may be the XIP confirmation bit.
    pub(super) fn take_dummies(&mut self, first_io0: bool, drive: Drive, clocks: u32) {
        self.count_turn(drive, clocks);
        let frame = &mut self.frame;
        let Some(command) = frame.command else { return };
        if frame.confirmation.is_none() && command.action == Action::Read(Source::Array) {
            frame.confirmation = Some(first_io0);
        }
        frame.left -= clocks;
        if frame.left == 0 {
            self.begin_data(command);
        }
    }

    /// Takes a byte of data into the page buffer, where the 257th overwrites the first.
    pub(super) fn take_data(&mut self, byte: u8) {
        let frame = &mut self.frame;
        let first = match frame.command.map(|command| command.action) {
            Some(Action::Program | Action::ProgramOtp) => frame.address,
            _ => 0,
        };
        self.buffer[(first.wrapping_add(frame.data_bytes) % PAGE_BYTES) as usize] = byte;
        frame.data_bytes = frame.data_bytes.saturating_add(1);
    }

    /// The next byte of a read, which the chip fetches on the edge that ends clock `done` of `span`.
    pub(super) fn next_byte(&mut self, source: Source, span: Span, done: u32) -> u8 {
        let byte = self.output_byte(source, span.at(done));
        let frame = &mut self.frame;
        if source == Source::Array {
            let address = frame.address;
            frame.address = address & !frame.count_mask | address.wrapping_add(1) & frame.count_mask;
            self.bytes_read += 1;
        } else {
            frame.data_bytes = frame.data_bytes.saturating_add(1);
        }
        byte
    }

    /// The byte that a read sends next, if the edge before it comes at `at`.
    pub(super) fn output_byte(&self, source: Source, at: Ps) -> u8 {
        let frame = &self.frame;
        let index = frame.data_bytes;
        let address = frame.address.saturating_add(index) as usize;
        match source {
            Source::Array => self.array.byte(frame.address),
            Source::Id => self.part.id.get(index as usize).copied().unwrap_or(0xff),
            Source::ShortId => self.part.id.iter().take(3).nth(index as usize).copied().unwrap_or(0xff),
            Source::Sfdp => self.part.sfdp.get(address).copied().unwrap_or(0xff),
            Source::Otp => self.otp.get(address).copied().unwrap_or(0xff),
            Source::DeviceId => {
                DEVICE_ID_ORDER.get(index as usize).and_then(|at| self.part.id.get(*at)).copied().unwrap_or(0xff)
            }
            register => self.registers.read(register, frame.address, index, self.condition(at)),
        }
    }
}
