//! `arm,psci-1.0`, `arm,psci-0.2`: the firmware that the operating system of an A-profile core calls by `smc #0` to
//! switch cores and the board (Power State Coordination Interface, DEN0022; SMC Calling Convention, DEN0028).
//!
//! Not a part of a chip: it stands for the secure monitor of TF-A or OP-TEE on the board. Modelled: PSCI_VERSION,
//! PSCI_FEATURES, MIGRATE_INFO_TYPE, SYSTEM_OFF, SYSTEM_RESET, CPU_ON, CPU_OFF, AFFINITY_INFO, CPU_SUSPEND to standby,
//! and SMCCC_VERSION and SMCCC_ARCH_FEATURES; all others are answered with NOT_SUPPORTED. The first core is on from the
//! start; CPU_ON begins the others at the end of its call, as TF-A does, in Supervisor mode with caches and MMU off.
//! CPU_OFF is denied to the last core that is on. SYSTEM_OFF ends the run with status 0, SYSTEM_RESET with status 1 and
//! a note. The monitor lets serial lines send all their characters first, as TF-A's `console_flush` does.
//!
//! Each call takes the same number of cycles of the calling core, in which the core executes nothing else. Caches and
//! TLBs stay as they are: the monitor's own code and data are not modelled.

use crate::prelude::*;
use engine::bus::device::{FirmwareAnswer, FirmwareCall};
use engine::order::CoreStart;

/// Functions of PSCI, with 32-bit parameters (DEN0022, 5.1).
const PSCI_VERSION: u32 = 0x8400_0000;
const CPU_SUSPEND: u32 = 0x8400_0001;
const CPU_OFF: u32 = 0x8400_0002;
const CPU_ON: u32 = 0x8400_0003;
const AFFINITY_INFO: u32 = 0x8400_0004;
const MIGRATE_INFO_TYPE: u32 = 0x8400_0006;
const SYSTEM_OFF: u32 = 0x8400_0008;
const SYSTEM_RESET: u32 = 0x8400_0009;
const PSCI_FEATURES: u32 = 0x8400_000a;
/// Functions of the calling convention (DEN0028, 7.1).
const SMCCC_VERSION: u32 = 0x8000_0000;
const SMCCC_ARCH_FEATURES: u32 = 0x8000_0001;

/// Return values of PSCI (DEN0022, 5.2.2).
const SUCCESS: i32 = 0;
const NOT_SUPPORTED: i32 = -1;
const INVALID_PARAMETERS: i32 = -2;
const DENIED: i32 = -3;
const ALREADY_ON: i32 = -4;
/// AFFINITY_INFO: the core is on, or off.
const IS_ON: i32 = 0;
const IS_OFF: i32 = 1;
/// MIGRATE_INFO_TYPE: no trusted OS is bound to a core.
const NO_MIGRATION: i32 = 2;
/// SMCCC_VERSION: 1.1.
const SMCCC_1_1: i32 = 0x1_0001;
/// The exit status of a run that ends in a reset.
const RESET_STATUS: i32 = 1;

/// Cycles of a call, and their source.
const CALL_CYCLES: (u32, &str) = (
    1950,
    "assumed 460 to 2000: as PSCI_VERSION takes on a Cortex-A53 at 650 MHz (TF-A, PSCI Performance Measurements on Arm \
     Juno Development Platform: 2.94 to 3.06 us with all cores calling; 0.52 to 0.72 us on a Cortex-A57 at 900 MHz)",
);

/// The firmware.
#[derive(Debug, State, Polled)]
pub struct Psci {
    /// PSCI_VERSION: the major number in the upper half.
    #[state(skip)]
    version: i32,
    #[state(skip)]
    call_cycles: u64,
    /// Number of cores: core n has affinity n.
    #[state(skip)]
    cores: u32,
    /// Cores that are on, a bit each.
    on: u32,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["arm,psci-1.0", "arm,psci-0.2"], 0, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.word_or_first("method", &[("smc", ())], "the instruction that calls the firmware");
    let call_cycles = reader.timing_or(
        "cyclescope,call-cycles",
        Some(CALL_CYCLES),
        0..=1_000_000,
        "cycles of the calling core for a call, from smc to the next instruction",
        "it may be 0 to 1000000",
    );
    let version = if reader.node.compatibles().contains(&"arm,psci-1.0") { 1 << 16 } else { 2 };
    Box::new(Psci::new(version, u64::from(call_cycles), reader.application_cores().max(1) as u32))
}

impl Psci {
    /// The firmware of a board with this many cores; the first one is on.
    pub fn new(version: i32, call_cycles: u64, cores: u32) -> Psci {
        Psci { version, call_cycles, cores, on: 1 }
    }

    fn value(&self, function: u32, [first, second, _]: [u32; 3]) -> i32 {
        match function {
            PSCI_VERSION => self.version,
            PSCI_FEATURES => self.feature(first),
            MIGRATE_INFO_TYPE => NO_MIGRATION,
            AFFINITY_INFO if first < self.cores && second == 0 => {
                if self.is_on(first) {
                    IS_ON
                } else {
                    IS_OFF
                }
            }
            AFFINITY_INFO => INVALID_PARAMETERS,
            SMCCC_VERSION if self.has_features() => SMCCC_1_1,
            SMCCC_ARCH_FEATURES if self.has_features() => match first {
                SMCCC_VERSION | SMCCC_ARCH_FEATURES => SUCCESS,
                _ => NOT_SUPPORTED,
            },
            _ => NOT_SUPPORTED,
        }
    }

    fn is_on(&self, core: u32) -> bool {
        self.on >> core & 1 != 0
    }

    /// CPU_ON: `core` begins at `entry`, with `context` in r0 (DEN0022, 5.6).
    fn switch_on(&mut self, [core, entry, context]: [u32; 3]) -> Result<(usize, CoreStart), i32> {
        if core >= self.cores {
            return Err(INVALID_PARAMETERS);
        }
        if self.is_on(core) {
            return Err(ALREADY_ON);
        }
        self.on |= 1 << core;
        Ok((core as usize, CoreStart { entry, context }))
    }

    /// CPU_OFF: the calling core is off until CPU_ON names it.
    fn switch_off(&mut self, ctx: &mut Ctx) -> FirmwareAnswer {
        let own = 1 << ctx.core.unwrap_or(0);
        if self.on & !own == 0 {
            return FirmwareAnswer::Value(DENIED as u32);
        }
        self.on &= !own;
        FirmwareAnswer::Off
    }

    /// PSCI_FEATURES: 0 for a function that exists, which for CPU_SUSPEND is the original format of its parameter.
    fn feature(&self, function: u32) -> i32 {
        let exists = matches!(
            function,
            PSCI_VERSION
                | CPU_SUSPEND
                | CPU_OFF
                | CPU_ON
                | AFFINITY_INFO
                | MIGRATE_INFO_TYPE
                | SYSTEM_OFF
                | SYSTEM_RESET
                | PSCI_FEATURES
                | SMCCC_VERSION
        );
        if exists && self.has_features() { SUCCESS } else { NOT_SUPPORTED }
    }

    /// True for version 1.0, which has PSCI_FEATURES; that function announces SMCCC_VERSION.
    fn has_features(&self) -> bool {
        self.version >= 1 << 16
    }
}

impl Device for Psci {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn is_firmware(&self) -> bool {
        true
    }

    fn firmware_call(&mut self, function: u32, parameters: [u32; 3], ctx: &mut Ctx) -> Option<FirmwareCall> {
        let begins = if function == CPU_ON { self.switch_on(parameters) } else { Err(SUCCESS) };
        let then = match function {
            SYSTEM_OFF => FirmwareAnswer::Exit(0),
            SYSTEM_RESET => {
                ctx.note("the firmware resets the system (PSCI SYSTEM_RESET): the run ends");
                FirmwareAnswer::Exit(RESET_STATUS)
            }
            // The parameter of a standby state of the core itself is 0, as TF-A for the STM32MP1 has it.
            CPU_SUSPEND if parameters[0] == 0 => FirmwareAnswer::WaitForInterrupt(SUCCESS as u32),
            CPU_SUSPEND => FirmwareAnswer::Value(INVALID_PARAMETERS as u32),
            CPU_ON => FirmwareAnswer::Value(begins.err().unwrap_or(SUCCESS) as u32),
            CPU_OFF => self.switch_off(ctx),
            _ => FirmwareAnswer::Value(self.value(function, parameters) as u32),
        };
        Some(FirmwareCall { cycles: self.call_cycles, starts: begins.ok(), then })
    }
}

#[cfg(test)]
mod tests;
