//! Accesses over SPI, byte by byte (datasheet, section 6.2): registers, the frame buffer, SRAM.

use super::*;
use crate::registers::Access as Kind;

/// The meaning of an access's next bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh)]
pub(super) enum Access {
    /// The command byte.
    #[default]
    Command,
    RegisterRead,
    RegisterWrite(u8),
    /// A frame buffer read: the number of bytes after the PHR that have been read or are being read, and whether the
    /// last of them has not been received yet.
    FrameRead {
        index: usize,
        early: bool,
    },
    /// A frame buffer write before its PHR.
    FrameLength,
    /// A frame buffer write: the number of bytes after the PHR.
    FrameWrite(usize),
    SramAddress {
        write: bool,
    },
    SramRead(u8),
    SramWrite(u8),
    /// A complete register access.
    Over,
    /// The chip is not accessible.
    Ignored,
}

impl Transceiver {
    /// The first byte that the chip sends in an access, as selected by SPI_CMD_MODE (table 6-3).
    pub(super) fn phy_status(&self) -> u8 {
        match self.registers.field(TRX_CTRL_1, TRX_CTRL_1_SPI_CMD_MODE) {
            _ if !self.is_accessible() => 0,
            0 => 0,
            1 => self.value(TRX_STATUS),
            2 => self.value(PHY_RSSI),
            _ => self.value(IRQ_STATUS),
        }
    }

    /// Takes a byte: returns the chip's next byte.
    pub(super) fn take_byte(&mut self, byte: u8) -> u8 {
        self.totals.bytes += 1;
        match self.access {
            Access::Command => return self.begin_access(byte),
            Access::RegisterRead => {
                self.access = Access::Over;
                return 0;
            }
            Access::RegisterWrite(address) => {
                self.totals.register_writes += 1;
                self.write_register(address, byte);
                self.access = Access::Over;
            }
            Access::FrameRead { index, early } => {
                if early {
                    self.underrun("the frame buffer was read ahead of the frame that comes in");
                }
                return self.read_frame(index);
            }
            Access::FrameLength => {
                self.buffer.take_over(None);
                self.buffer.set(0, byte);
                self.access = Access::FrameWrite(0);
            }
            Access::FrameWrite(index) => {
                self.write_frame(index, byte);
                self.access = Access::FrameWrite(index + 1);
            }
            Access::SramAddress { write } => {
                let address = byte & 0x7f;
                self.access = if write { Access::SramWrite(address) } else { Access::SramRead(address) };
                return if write { 0 } else { self.buffer.get(address) };
            }
            Access::SramRead(address) => {
                let next = address.wrapping_add(1) & 0x7f;
                self.access = Access::SramRead(next);
                return self.buffer.get(next);
            }
            Access::SramWrite(address) => {
                self.buffer.set(address, byte);
                self.access = Access::SramWrite(address.wrapping_add(1) & 0x7f);
            }
            Access::Over => self.notes.add("a register access has two bytes: more were ignored".to_owned()),
            Access::Ignored => {}
        }
        0
    }

    /// The command byte (table 6-2): returns the chip's next byte.
    fn begin_access(&mut self, command: u8) -> u8 {
        if !self.is_accessible() {
            let state = self.state;
            self.notes.add(format!("an access in {state:?} was ignored: registers and buffer are off"));
            self.access = Access::Ignored;
            return 0;
        }
        let write = command & 0x40 != 0;
        match command {
            0x80.. if write => self.access = Access::RegisterWrite(command & 0x3f),
            0x80.. => {
                self.access = Access::RegisterRead;
                self.totals.register_reads += 1;
                return self.read_register(command & 0x3f);
            }
            _ if command & 0x20 == 0 => {
                self.totals.sram_accesses += 1;
                self.access = Access::SramAddress { write };
            }
            _ if write => {
                self.totals.frame_buffer_writes += 1;
                self.access = Access::FrameLength;
            }
            _ => {
                self.totals.frame_buffer_reads += 1;
                self.access = Access::FrameRead { index: 0, early: false };
                return self.buffer.phr();
            }
        }
        0
    }

    /// /SEL rises.
    pub(super) fn end_access(&mut self) {
        if let Access::FrameRead { index, .. } = std::mem::replace(&mut self.access, Access::Command) {
            // Protection ends when the buffer has been read.
            self.protected = false;
            self.totals.frame_buffer_length_reads += u64::from(index <= 1);
        }
    }

    /// A register's value as software reads it, without side effects.
    fn value(&self, address: u32) -> u8 {
        let computed = match address {
            TRX_STATUS => {
                flag(TRX_STATUS_CCA_DONE, self.cca_done)
                    | flag(TRX_STATUS_CCA_STATUS, self.cca_done && self.cca_clear)
                    | u32::from(self.status_code())
            }
            VREG_CTRL => {
                let analog = !matches!(self.state, State::P_ON | State::TRX_OFF | State::SLEEP);
                VREG_CTRL_DVDD_OK | flag(VREG_CTRL_AVDD_OK, analog)
            }
            BATMON => BATMON_BATMON_OK,
            _ => 0,
        };
        (self.registers[address] | computed) as u8
    }

    fn read_register(&mut self, address: u8) -> u8 {
        let value = self.value(address.into());
        if u32::from(address) == IRQ_STATUS {
            self.registers.set(IRQ_STATUS, 0);
        }
        if self.registers.map().row(address.into()).is_none() {
            self.note_absent(address);
        }
        value
    }

    #[cold]
    fn note_absent(&mut self, address: u8) {
        self.notes.add(format!("there is no register {address:#04x}: it reads 0"));
    }

    fn write_register(&mut self, address: u8, value: u8) {
        let Ok((row, before, _)) = self.registers.write(address.into(), value.into()) else {
            return self.note_absent(address);
        };
        let starts = matches!(row.offset, PHY_ED_LEVEL | FTN_CTRL | PLL_CF | PLL_DCU);
        if row.access == Kind::Ro && !starts {
            return self.notes.add(format!("{} is read-only: a write had no effect", row.name));
        }
        let bits = u32::from(value);
        match address.into() {
            TRX_STATE => self.command(Command::of((bits & TRX_STATE_TRX_CMD) as u8)),
            PHY_CC_CCA => {
                if (before ^ bits) & PHY_CC_CCA_CHANNEL != 0 {
                    self.settle(self.times.channel);
                }
                if bits & PHY_CC_CCA_CCA_REQUEST != 0 {
                    self.measure(Measured::ClearChannel);
                }
            }
            PHY_ED_LEVEL => self.measure(Measured::Energy),
            CSMA_SEED_0 | CSMA_SEED_1 => self.back_offs = BackOffs::new(&self.registers),
            PLL_CF | PLL_DCU if bits & PLL_DCU_START != 0 => self.settle(self.times.channel),
            _ => {}
        }
    }

    /// The PLL settles again, if it is on.
    fn settle(&mut self, span: Ps) {
        if matches!(self.state, State::PLL_ON | State::RX_ON | State::RX_AACK_ON | State::TX_ARET_ON) {
            self.locked_at = self.now.saturating_add(span);
            self.pending.push((self.locked_at, IRQ_STATUS_PLL_LOCK));
        }
    }

    /// Byte `index` after the PHR of a frame buffer read, which comes next.
    fn read_frame(&mut self, index: usize) -> u8 {
        let lacks = self.reception.as_ref().is_some_and(|frame| frame.lacks(index));
        let early = lacks && index < usize::from(self.buffer.phr());
        self.access = Access::FrameRead { index: index + 1, early };
        self.buffer.frame(index)
    }

    /// Byte `index` after the PHR of a frame buffer write.
    fn write_frame(&mut self, index: usize, byte: u8) {
        if index >= super::MAX_PSDU_BYTES {
            self.underrun("more than 127 bytes were written to the frame buffer");
            return;
        }
        if self.transmission.as_ref().is_some_and(|frame| frame.has_passed(index)) {
            self.underrun("a byte was written to the frame buffer after it had gone out");
        }
        self.buffer.set(index as u8 + 1, byte);
    }

    fn underrun(&mut self, what: &str) {
        self.totals.underruns += 1;
        self.notes.add(format!("TRX_UR: {what}"));
        self.flag(IRQ_STATUS_TRX_UR);
    }
}
