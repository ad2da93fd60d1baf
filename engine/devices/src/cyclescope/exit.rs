//! `cyclescope,exit`: a register that ends the run.
//!
//! Not a real part: for boards and programs without semihosting. It has one 32-bit register at offset 0. A write of `v`
//! ends the run after the storing instruction with the firmware's exit status `v & 0xff` (0: success), the low eight
//! bits that a host's exit status has. A read returns 0. Both are answered without delay, so that the register adds no
//! time.

use crate::prelude::*;

registers! {
    /// The register map.
    const MAP "" {
        EXIT 0x0 wo { STATUS 0..8 };
    }
}

/// The device.
#[derive(Debug, Default, State, Polled)]
#[poll(never = "a program that accesses it ends")]
pub struct Exit;

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Own, &["cyclescope,exit"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(_reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Exit)
}

impl Device for Exit {
    fn read(&mut self, _: usize, _offset: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        match offset {
            EXIT => ctx.exit((value & EXIT_STATUS) as i32),
            _ => ctx.note(&format!("a write to offset {offset:#x}, where no register is, has no effect")),
        }
        Ok(Reply::written(ctx.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::bus::device::ExitRequest;
    use engine::time::Ps;

    #[test]
    fn a_write_ends_the_run_with_its_low_byte() {
        for (written, code) in [(0, 0), (3, 3), (0x1ff, 0xff)] {
            let mut bench = Bench::new(Exit);
            assert_eq!(bench.write(Ps(70), 0, written), Ok(Ps(70)));
            assert_eq!(bench.bus.exit, Some(ExitRequest { code, at: Ps(70) }));
        }
    }

    #[test]
    fn only_the_register_itself_ends_the_run() {
        let mut bench = Bench::new(Exit);
        assert_eq!(bench.read(Ps(5), 0), Ok((0, Ps(5))));
        bench.write(Ps(5), 4, 1).unwrap();
        assert_eq!(bench.bus.exit, None);
        assert_eq!(bench.bus.notes().len(), 1);
    }
}
