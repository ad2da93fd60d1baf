//! System instructions within blocks: they change only the core's own registers, and nothing that the core would have
//! to look at before the next instruction. Kernels use them everywhere.

use super::architecture::SystemSide as _;
use super::op::Op;
use super::system::psr::MRS_MASK;
use super::system::{Exception, System, X};

/// An instruction within a block: the meaning of [`Op::imm`] of [`super::op::Code::InBlock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBlock {
    /// x[rd] = TPIDRURW, TPIDRURO or TPIDRPRW: opc2 of the register, 2 to 4.
    ThreadId(u32),
    /// x[rd] = CPSR.
    Status,
    /// Sets some of CPSR.A, I and F, in their bit positions.
    Mask(u32),
}

const THREAD_ID: u32 = 1 << 16;
const STATUS: u32 = 2 << 16;

impl InBlock {
    /// As [`Op::imm`].
    pub fn imm(self) -> u32 {
        match self {
            InBlock::ThreadId(opc2) => THREAD_ID | opc2,
            InBlock::Status => STATUS,
            InBlock::Mask(masks) => masks,
        }
    }

    /// The meaning of [`Op::imm`].
    pub fn of(imm: u32) -> InBlock {
        match imm & !0xffff {
            THREAD_ID => InBlock::ThreadId(imm & 0xffff),
            STATUS => InBlock::Status,
            _ => InBlock::Mask(imm),
        }
    }
}

impl System {
    /// Executes such an instruction.
    ///
    /// # Errors
    ///
    /// The exception of the instruction, which has changed nothing.
    pub(super) fn execute_in_block(&mut self, x: &mut X, op: &Op) -> Result<(), Exception> {
        match InBlock::of(op.imm) {
            InBlock::ThreadId(opc2) => {
                let Some(value) = self.thread_id(opc2) else {
                    let encoding = 0xee1d_0f10 | u32::from(op.rd & 15) << 12 | opc2 << 5;
                    return Err(System::undefined(encoding));
                };
                x[usize::from(op.rd)] = value;
            }
            InBlock::Status => x[usize::from(op.rd)] = self.cpsr(x) & MRS_MASK,
            InBlock::Mask(masks) if self.is_privileged() => self.mask(masks),
            InBlock::Mask(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_found_in_an_operation() {
        for what in [InBlock::ThreadId(2), InBlock::ThreadId(4), InBlock::Status, InBlock::Mask(0x1c0)] {
            assert_eq!(InBlock::of(what.imm()), what);
        }
    }
}
