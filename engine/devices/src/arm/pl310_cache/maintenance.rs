//! Maintenance operations. Each is performed at once; its duration is computed and shown in its register. An operation
//! that is started during another one ends after it.

use super::{CIIR, CIPALR, CIR, CIWR, CPALR, CSR, CWR, IPALR, IWR, Pl310};
use crate::prelude::*;

/// Index of the first bit of the way in CIR and CIIR.
const WAY_SHIFT: u32 = 28;
/// Index of the first bit of the set in CIR and CIIR.
const SET_SHIFT: u32 = 5;

/// The operation on a line.
#[derive(Clone, Copy)]
struct Work {
    clean: bool,
    invalidate: bool,
}

impl Pl310 {
    /// A write to one of the operations' registers.
    pub(super) fn operate(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        self.operations += 1;
        let work = Work {
            clean: matches!(offset, CPALR | CIR | CWR | CIPALR | CIIR | CIWR),
            invalidate: matches!(offset, IPALR | IWR | CIPALR | CIIR | CIWR),
        };
        let from = self.busy_until.max(ctx.now);
        match offset {
            CSR => {}
            IPALR | CPALR | CIPALR => self.busy_until = line(ctx, from, value, work),
            CIR | CIIR => {
                self.busy_until = place(ctx, from, value >> SET_SHIFT, value >> WAY_SHIFT & 7, work);
            }
            _ => {
                let ways = value & 0xff;
                self.busy_ways = if from > ctx.now { self.busy_ways | ways } else { ways };
                self.busy_until = (0..8).filter(|way| ways >> way & 1 != 0).fold(from, |from, way| {
                    let sets = ctx.bus.outer.as_ref().map_or(0, |cache| cache.sets());
                    (0..sets).fold(from, |from, set| place(ctx, from, set, way, work))
                });
            }
        }
    }
}

/// Operates on the line in a way of a set. Returns the end of the operation.
fn place(ctx: &mut Ctx, from: Ps, set: u32, way: u32, work: Work) -> Ps {
    let found = ctx.bus.outer.as_ref().and_then(|cache| cache.line_at(set, way));
    match found {
        Some(found) => line(ctx, from, found.line_addr, work),
        None => look_up(ctx, from),
    }
}

/// Operates on the line that holds an address, if it is cached. Returns the end of the operation.
fn line(ctx: &mut Ctx, from: Ps, addr: u32, work: Work) -> Ps {
    let looked = look_up(ctx, from);
    let Some(cache) = &mut ctx.bus.outer else { return looked };
    let bytes = cache.shape().line_bytes;
    let addr = addr & !(bytes - 1);
    let dirty = work.clean && cache.clean(addr);
    if work.invalidate {
        cache.drop_line(addr);
    }
    if !dirty {
        return looked;
    }
    // The line was read from there, so it can be written there.
    ctx.bus.write_burst(looked, addr, bytes).map_or(looked, |access| access.done)
}

/// A look-up of the tags.
fn look_up(ctx: &Ctx, from: Ps) -> Ps {
    ctx.bus.outer.as_ref().map_or(from, |cache| {
        let Cycles(cycles) = cache.lookup_cycles(false);
        cache.timing().clock.after(from, Cycles(cycles))
    })
}
