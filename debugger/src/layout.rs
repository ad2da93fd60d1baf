//! The registers that a client sees, and their numbers: GDB's target description.
//!
//! A process has one description, and its threads may be cores of several kinds: a register that a core lacks is
//! unavailable there. If an application core and a microcontroller core of Arm's are together, the description is that
//! of the application core. The status register of the other core is shown in the form of a CPSR, because GDB reads the
//! instruction set from it.

use std::fmt::Write as _;

use engine::core::debug::{Architecture, Group, Register};

/// A register of the description.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    feature: &'static str,
    name: String,
    bits: u32,
    kind: &'static str,
}

/// The place of a slot's register in a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// One of the core's own registers, by its number.
    Own(usize),
    /// An xPSR that is shown as a CPSR, by its number.
    Status(usize),
}

/// The registers of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    architecture: Architecture,
    slots: Vec<Slot>,
    /// By core and slot.
    places: Vec<Vec<Option<Place>>>,
}

/// xPSR.T.
const XPSR_T: u32 = 1 << 24;
/// CPSR.T, and System mode.
const CPSR_T: u32 = 1 << 5;
const CPSR_SYSTEM: u32 = 0x1f;
/// Flags, Q and GE: both status registers have them at the same bits.
const FLAGS: u32 = 0xf80f_0000;

impl Layout {
    /// The layout for cores with these registers.
    pub fn new(cores: &[(Architecture, Vec<Register>)]) -> Layout {
        // GDB supports more features of an application core.
        let first = cores.iter().find(|(architecture, _)| *architecture != Architecture::ArmM).or(cores.first());
        let architecture = first.map_or(Architecture::RiscV32, |(architecture, _)| *architecture);
        let mut layout = Layout { architecture, slots: Vec::new(), places: vec![Vec::new(); cores.len()] };
        let order = |(other, _): &&(Architecture, Vec<Register>)| *other != architecture;
        for (kind, registers) in cores.iter().filter(|core| !order(core)).chain(cores.iter().filter(order)) {
            registers.iter().for_each(|register| layout.add(*kind, register));
        }
        layout.add_required();
        // The registers of a feature stay together.
        let mut features: Vec<&str> = Vec::new();
        for slot in &layout.slots {
            if !features.contains(&slot.feature) {
                features.push(slot.feature);
            }
        }
        layout.slots.sort_by_key(|slot| features.iter().position(|feature| *feature == slot.feature));
        for (core, (_, registers)) in cores.iter().enumerate() {
            layout.places[core] = layout.slots.iter().map(|slot| place(slot, registers)).collect();
        }
        layout
    }

    fn add(&mut self, kind: Architecture, register: &Register) {
        let name = register.name.as_ref();
        let feature = feature(self.architecture, kind, register);
        if self.slots.iter().all(|slot| slot.name != name) {
            self.slots.push(Slot { feature, name: name.to_owned(), bits: register.bits, kind: kind_of(register) });
        }
    }

    /// Adds registers without which GDB refuses the description of a MIPS core.
    fn add_required(&mut self) {
        if self.architecture != Architecture::Mips32 {
            return;
        }
        const FPU: &str = "org.gnu.gdb.mips.fpu";
        let slot = |name: String, kind| Slot { feature: FPU, name, bits: 32, kind };
        self.slots.extend((0..32).map(|number| slot(format!("f{number}"), "ieee_single")));
        self.slots.extend(["fcsr", "fir"].map(|name| slot(name.to_owned(), "int")));
    }

    /// The number of registers.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True if there are no registers.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The size of a register in bytes.
    pub fn bytes_of(&self, slot: usize) -> Option<usize> {
        self.slots.get(slot).map(|slot| slot.bits as usize / 8)
    }

    /// The client's view of a core's register, from all registers of the core; `None` if the core lacks it.
    pub fn value(&self, core: usize, slot: usize, registers: &[Register]) -> Option<u64> {
        match (*self.places.get(core)?.get(slot)?)? {
            Place::Own(number) => Some(registers.get(number)?.value),
            Place::Status(number) => {
                let xpsr = registers.get(number)?.value as u32;
                let thumb = if xpsr & XPSR_T != 0 { CPSR_T } else { 0 };
                Some((xpsr & FLAGS | thumb | CPSR_SYSTEM).into())
            }
        }
    }

    /// The core's own number and value for a register that the client writes; `None` if the core lacks it.
    pub fn written(&self, core: usize, slot: usize, value: u64) -> Option<(usize, u64)> {
        match (*self.places.get(core)?.get(slot)?)? {
            Place::Own(number) => Some((number, value)),
            Place::Status(number) => {
                let thumb = if value as u32 & CPSR_T != 0 { XPSR_T } else { 0 };
                Some((number, (value as u32 & FLAGS | thumb).into()))
            }
        }
    }

    /// The target description.
    pub fn xml(&self) -> String {
        let architecture = match self.architecture {
            Architecture::RiscV32 => "riscv:rv32",
            Architecture::ArmA | Architecture::ArmM => "arm",
            Architecture::Mips32 => "mips",
        };
        let mut xml = format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n  \
             <architecture>{architecture}</architecture>\n"
        );
        for (number, slot) in self.slots.iter().enumerate() {
            if number == 0 || self.slots[number - 1].feature != slot.feature {
                let _ = writeln!(xml, "  <feature name=\"{}\">", slot.feature);
            }
            let Slot { name, bits, kind, feature } = slot;
            let _ = writeln!(xml, "    <reg name=\"{name}\" bitsize=\"{bits}\" type=\"{kind}\" regnum=\"{number}\"/>");
            if self.slots.get(number + 1).is_none_or(|next| next.feature != *feature) {
                xml += "  </feature>\n";
            }
        }
        xml + "</target>\n"
    }
}

fn place(slot: &Slot, registers: &[Register]) -> Option<Place> {
    let named = |name: &str| registers.iter().position(|register| register.name == name);
    let status = || if slot.name == "cpsr" { named("xpsr").map(Place::Status) } else { None };
    named(&slot.name).map(Place::Own).or_else(status)
}

/// GDB's feature for a register, or one of Cyclescope's own.
fn feature(process: Architecture, kind: Architecture, register: &Register) -> &'static str {
    let name = register.name.as_ref();
    match (kind, register.group) {
        (Architecture::RiscV32, Group::General) => "org.gnu.gdb.riscv.cpu",
        (Architecture::RiscV32, Group::System) if name.starts_with('m') => "org.gnu.gdb.riscv.csr",
        (Architecture::RiscV32, _) => "org.cyclescope.riscv",
        (Architecture::ArmA, Group::General) => "org.gnu.gdb.arm.core",
        (Architecture::ArmA | Architecture::ArmM, Group::Float) => "org.gnu.gdb.arm.vfp",
        (Architecture::ArmA, Group::System) => "org.cyclescope.arm.system",
        (Architecture::ArmM, _) if process == Architecture::ArmA => "org.cyclescope.arm.m-profile",
        (Architecture::ArmM, Group::General) => "org.gnu.gdb.arm.m-profile",
        (Architecture::ArmM, Group::System) if ["msp", "psp"].contains(&name) => "org.gnu.gdb.arm.m-system",
        (Architecture::ArmM, Group::System) => "org.cyclescope.arm.m-profile",
        (Architecture::Mips32, Group::System) if ["status", "badvaddr", "cause"].contains(&name) => {
            "org.gnu.gdb.mips.cp0"
        }
        (Architecture::Mips32, Group::System) => "org.cyclescope.mips.cp0",
        (Architecture::Mips32, _) => "org.gnu.gdb.mips.cpu",
    }
}

fn kind_of(register: &Register) -> &'static str {
    match (register.name.as_ref(), register.bits) {
        ("pc", _) => "code_ptr",
        ("sp" | "msp" | "psp", _) => "data_ptr",
        (_, 64) => "ieee_double",
        _ => "int",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(names: &[(&'static str, u32)], group: Group) -> Vec<Register> {
        names.iter().map(|(name, value)| Register::word(*name, group, *value)).collect()
    }

    #[test]
    fn cores_of_two_kinds_share_a_description() {
        let application = words(&[("r0", 1), ("pc", 2), ("cpsr", 0x1d3)], Group::General);
        let mut micro = words(&[("r0", 7), ("pc", 8), ("xpsr", 0x8100_0003)], Group::General);
        micro.extend(words(&[("msp", 0x2000_0000)], Group::System));
        let cores = [(Architecture::ArmM, micro.clone()), (Architecture::ArmA, application.clone())];
        let layout = Layout::new(&cores);
        let names: Vec<&str> = layout.slots.iter().map(|slot| slot.name.as_str()).collect();
        assert_eq!(names, ["r0", "pc", "cpsr", "xpsr", "msp"]);
        let values = |core: usize, registers: &[Register]| -> Vec<Option<u64>> {
            (0..layout.len()).map(|slot| layout.value(core, slot, registers)).collect()
        };
        // N and T.
        assert_eq!(values(0, &micro), [Some(7), Some(8), Some(0x8000_003f), Some(0x8100_0003), Some(0x2000_0000)]);
        assert_eq!(values(1, &application), [Some(1), Some(2), Some(0x1d3), None, None]);
        assert_eq!(layout.written(0, 2, 0x2000_0020), Some((2, 0x2100_0000)));
        assert_eq!(layout.written(1, 4, 1), None);
        assert!(layout.xml().contains("<feature name=\"org.gnu.gdb.arm.core\">"));
    }

    #[test]
    fn each_feature_is_in_one_piece() {
        let mut registers = words(&[("zero", 0), ("pc", 0)], Group::General);
        registers.extend(words(&[("mstatus", 0), ("cycle", 0), ("mcycle", 0)], Group::System));
        let xml = Layout::new(&[(Architecture::RiscV32, registers)]).xml();
        assert_eq!(xml.matches("<feature ").count(), 3);
        assert_eq!(xml.matches("</feature>").count(), 3);
    }
}
