//! The surroundings of an STM32's analogue-to-digital converter, constant values from its node: its reference, the
//! voltages at its inputs, the chip's temperature.

use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;

const INPUTS: &str = "cyclescope,inputs-microvolts";

/// The values of a node except its inputs.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// VREF+.
    pub reference_uv: u32,
    /// The chip's temperature.
    pub temperature_millicelsius: i32,
}

/// Reads the node. `inputs_uv` are the channels that have pins, from channel `first` on; a longer list is a fault.
pub fn from_node(reader: &mut NodeReader, first: usize, inputs_uv: &mut [u32]) -> Surroundings {
    let range = "a voltage of up to 3.6 V in microvolts";
    let reference_uv = reader.u32_or("cyclescope,reference-microvolts", 3_300_000, 1_000_000..=3_600_000, range);
    let last = first + inputs_uv.len() - 1;
    let meaning = format!(
        "what is at channels {first}, {} and so on, up to {last}, in microvolts; 0 where the list ends",
        first + 1
    );
    let given = reader.bytes(INPUTS, &meaning).unwrap_or_default();
    let (cells, rest) = given.as_chunks::<4>();
    if cells.len() > inputs_uv.len() || !rest.is_empty() {
        let value = format!("{} bytes", given.len());
        let allowed = format!("up to {} cells of 4 bytes", inputs_uv.len());
        reader.fault_at(INPUTS, FaultKind::OutOfRange { property: INPUTS.into(), value, allowed });
    }
    for (input, cell) in inputs_uv.iter_mut().zip(cells) {
        *input = u32::from_be_bytes(*cell);
    }
    let meaning = "the chip's temperature in thousandths of a degree, -40000 to 125000";
    let allowed = |value: u32| (-40_000..=125_000).contains(&(value as i32));
    let temperature_millicelsius =
        reader.u32_or("cyclescope,temperature-millicelsius", 25_000, allowed, meaning) as i32;
    Surroundings { reference_uv, temperature_millicelsius }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;
    use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
    use engine::polling::{Poll, Polled};

    #[derive(engine::state::State)]
    struct Inputs;

    impl Device for Inputs {
        fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
            Err(SlaveError { done: ctx.now })
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
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
        from_node(reader, 1, &mut inputs_uv);
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
}
