//! The analogue-to-digital converters of STM32s: what they have in common. Their surroundings are constant values from
//! the node: the reference, the voltages at the inputs, the chip's temperature.

pub mod stm32f4_adc;
pub mod stm32l4_adc;

#[cfg(test)]
mod tests;

use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;

const INPUTS: &str = "cyclescope,inputs-microvolts";
/// Channels 0 to 18.
const CHANNELS: usize = 19;
/// The temperature sensor (DS8626 and DS12023, temperature sensor characteristics): typical values at the temperature
/// that the data sheet names, and for each degree.
const SENSOR_UV: i64 = 760_000;
const SENSOR_SLOPE_UV: i64 = 2_500;

/// Tokens of events: a conversion or another operation ends; DMA requests change.
const CHANGES: u32 = 0;
const DMA_ACTIVITIES: u32 = 1;

/// The channels of a chip.
#[derive(Clone, Copy, Debug)]
struct Channels {
    /// The first channel that has a pin, and the number of those.
    first: usize,
    pins: usize,
    /// The channel of the temperature sensor, and the temperature at which it has [`SENSOR_UV`].
    temperature: usize,
    sensor_millicelsius: i32,
    /// The channel of the internal reference, and its voltage.
    vrefint: usize,
    vrefint_uv: u32,
    /// The channel of VBAT.
    vbat: usize,
}

/// What is at the inputs of a converter.
#[derive(Clone, Copy, Debug)]
pub struct Inputs {
    /// Voltages of the channels.
    channels_uv: [u32; CHANNELS],
    /// VREF+.
    reference_uv: u32,
}

impl Inputs {
    /// Reads the node.
    fn from_node(reader: &mut NodeReader, channels: &Channels) -> Inputs {
        let range = "a voltage of up to 3.6 V in microvolts";
        let reference_uv = reader.u32_or("cyclescope,reference-microvolts", 3_300_000, 1_000_000..=3_600_000, range);
        let mut channels_uv = [0; CHANNELS];
        read_pins(reader, channels.first, &mut channels_uv[channels.first..channels.first + channels.pins]);
        let meaning = "the chip's temperature in thousandths of a degree, -40000 to 125000";
        let allowed = |value: u32| (-40_000..=125_000).contains(&(value as i32));
        let millicelsius = reader.u32_or("cyclescope,temperature-millicelsius", 25_000, allowed, meaning) as i32;
        let warmer = i64::from(millicelsius - channels.sensor_millicelsius);
        channels_uv[channels.temperature] = (SENSOR_UV + SENSOR_SLOPE_UV * warmer / 1000) as u32;
        channels_uv[channels.vrefint] = channels.vrefint_uv;
        Inputs { channels_uv, reference_uv }
    }

    /// The channel of VBAT has this part of VREF+, as VBAT itself.
    const fn with_vbat(mut self, channels: &Channels, part: u32) -> Inputs {
        self.channels_uv[channels.vbat] = self.reference_uv / part;
        self
    }

    /// The result of a conversion: 12 bits.
    fn code(&self, channel: usize) -> u32 {
        (u64::from(self.channels_uv[channel]) * 4096 / u64::from(self.reference_uv)).min(4095) as u32
    }
}

/// Reads the voltages of channels that have pins, from channel `first` on; a longer list is a fault.
fn read_pins(reader: &mut NodeReader, first: usize, pins_uv: &mut [u32]) {
    let last = first + pins_uv.len() - 1;
    let meaning = format!(
        "what is at channels {first}, {} and so on, up to {last}, in microvolts; 0 where the list ends",
        first + 1
    );
    let given = reader.bytes(INPUTS, &meaning).unwrap_or_default();
    let (cells, rest) = given.as_chunks::<4>();
    if cells.len() > pins_uv.len() || !rest.is_empty() {
        let value = format!("{} bytes", given.len());
        let allowed = format!("up to {} cells of 4 bytes", pins_uv.len());
        reader.fault_at(INPUTS, FaultKind::OutOfRange { property: INPUTS.into(), value, allowed });
    }
    for (pin, cell) in pins_uv.iter_mut().zip(cells) {
        *pin = u32::from_be_bytes(*cell);
    }
}

/// The bits of a result, by RES.
const fn bits_of(resolution: u32) -> u32 {
    12 - 2 * resolution
}

/// A result of `bits` bits in the data register, right- or left-aligned.
const fn aligned(code: u32, bits: u32, is_left: bool) -> u32 {
    match bits {
        _ if !is_left => code,
        6 => code << 2,
        _ => code << (16 - bits),
    }
}
