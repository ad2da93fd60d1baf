//! What a node may say of the inputs.

use super::*;
use crate::bench::read_plain_node;
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, SlaveError};
use engine::polling::{Poll, Polled};

#[derive(engine::state::State)]
struct Inputs;

impl Device for Inputs {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }
}

impl Polled for Inputs {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn read(reader: &mut NodeReader) -> Box<dyn Device> {
    let mut inputs_uv = [0; 2];
    read_pins(reader, 1, &mut inputs_uv);
    assert!(inputs_uv == [7, 0] || inputs_uv == [1, 2], "{inputs_uv:?}");
    Box::new(Inputs)
}

#[test]
fn a_list_may_be_shorter_than_there_are_inputs_but_not_longer() {
    // A plain node has other properties, which are not read here.
    let is_refused = |cells: &[u32]| {
        let faults = read_plain_node(read, &[(INPUTS, cells)]).1;
        faults.iter().any(|fault| fault.contains(INPUTS) && fault.contains("up to 2 cells"))
    };
    assert!(!is_refused(&[7]) && !is_refused(&[1, 2]));
    assert!(is_refused(&[1, 2, 3]));
}
