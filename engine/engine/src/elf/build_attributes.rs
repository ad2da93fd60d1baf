//! The Arm core that a program was built for, from its build attributes (Addenda to the ABI for the Arm Architecture,
//! "Build attributes"): the profile decides which core runs it, the rest is for notes.

use object::Endianness;
use object::elf::{self, FileHeader32};
use object::read::elf::{AttributesSection, ElfFile, SectionHeader};

use crate::one_line::one_line;

const TAG_FILE: u8 = 1;
const TAG_CPU_RAW_NAME: u64 = 4;
const TAG_CPU_NAME: u64 = 5;
const TAG_CPU_ARCH: u64 = 6;
const TAG_CPU_ARCH_PROFILE: u64 = 7;
const TAG_FP_ARCH: u64 = 10;
const TAG_ABI_HARD_FP_USE: u64 = 27;
const TAG_COMPATIBILITY: u64 = 32;
const TAG_MVE_ARCH: u64 = 48;
/// Tag_FP_arch of Armv8 and of FPv5, with 32 registers; the next value with 16.
const FP_V8: u64 = 7;
/// Tag_ABI_HardFP_use.
const SINGLE_ALONE: u64 = 1;
/// Longer names are ignored.
const MOST_NAME_CHARACTERS: usize = 40;
/// v6-M, v6S-M, v7E-M, v8-M baseline and mainline, v8.1-M mainline: the architectures that only M-profile cores have.
const M_ARCHITECTURES: [u64; 6] = [11, 12, 13, 16, 17, 21];

/// A profile of the Arm architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Application processors: Cortex-A.
    A,
    /// Real-time processors: Cortex-R.
    R,
    /// Microcontrollers: Cortex-M.
    M,
}

impl Profile {
    /// The name of such a core for users.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::A => "Cortex-A",
            Profile::R => "Cortex-R",
            Profile::M => "Cortex-M",
        }
    }
}

/// The build attributes of an ELF file about the core that it was built for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Tag_CPU_name: a core ("Cortex-M7"), or an architecture ("7E-M").
    pub cpu_name: String,
    /// Tag_CPU_arch.
    pub architecture: Option<u64>,
    /// Tag_CPU_arch_profile.
    profile: Option<u64>,
    /// Tag_FP_arch: 0 for none.
    fp_architecture: u64,
    /// Tag_ABI_HardFP_use: 1 for single precision alone.
    hard_fp: u64,
    /// Tag_MVE_arch.
    mve: u64,
}

impl Attributes {
    /// The attributes of an ELF file; `None` if it has none.
    pub fn of(data: &[u8]) -> Option<Attributes> {
        let file = ElfFile::<FileHeader32<Endianness>>::parse(data).ok()?;
        let sections = file.elf_section_table();
        let section = sections.iter().find(|section| section.sh_type(file.endian()) == elf::SHT_ARM_ATTRIBUTES)?;
        let attributes = section.attributes(file.endian(), data).ok()?;
        in_section(&attributes)
    }

    /// The profile, if the file has it.
    pub fn profile(&self) -> Option<Profile> {
        named(self.architecture, self.profile)
    }

    /// The core that the program was built for, as "Cortex-M7": by its name, or by features that only some cores have.
    /// `None` if it may be `own`, a core of this name.
    pub fn other_than(&self, own: &str) -> Option<String> {
        let name = self.cpu_name.to_ascii_lowercase();
        if let Some(model) = name.strip_prefix("cortex-") {
            let known = format!("Cortex-{}", model.to_ascii_uppercase());
            return (known != own).then(|| one_line(&known));
        }
        if name.starts_with("arm") {
            return Some(one_line(&self.cpu_name));
        }
        let meant = match (self.architecture?, self.profile()) {
            (11 | 12, _) => "Cortex-M0 or M0+ (Armv6-M)",
            (10, Some(Profile::M)) => "Cortex-M3 (Armv7-M)",
            (13, _) if self.fp_architecture >= FP_V8 => "Cortex-M7 (FPv5)",
            (16, _) => "Cortex-M23 (Armv8-M Baseline)",
            (17, _) => "Cortex-M33 (Armv8-M Mainline)",
            (21, _) => "Cortex-M55 (Armv8.1-M)",
            (14, _) => "core of Armv8-A",
            _ => return None,
        };
        Some(meant.to_owned())
    }

    /// The program may use instructions that no core of Armv7 has.
    pub fn is_newer(&self) -> bool {
        matches!(self.architecture, Some(14..=17 | 21..)) || self.mve > 0
    }

    /// The program uses a floating-point unit.
    pub fn wants_fpu(&self) -> bool {
        self.fp_architecture > 0
    }

    /// The program may use double precision.
    pub fn wants_double(&self) -> bool {
        self.wants_fpu() && self.hard_fp != SINGLE_ALONE
    }
}

fn in_section(section: &AttributesSection<FileHeader32<Endianness>>) -> Option<Attributes> {
    let mut subsections = section.subsections().ok()?;
    while let Some(subsection) = subsections.next().ok()? {
        let mut parts = subsection.subsubsections();
        while let Some(part) = parts.next().ok()? {
            if subsection.vendor() != b"aeabi" || part.tag().0 != TAG_FILE {
                continue;
            }
            let mut attributes = part.attributes();
            let mut found = Attributes::default();
            while let Some(tag) = attributes.read_tag().ok()? {
                match tag {
                    TAG_CPU_RAW_NAME => drop(attributes.read_string().ok()?),
                    TAG_CPU_NAME => {
                        let name = String::from_utf8_lossy(attributes.read_string().ok()?);
                        found.cpu_name = name.chars().take(MOST_NAME_CHARACTERS).collect();
                    }
                    TAG_CPU_ARCH => found.architecture = Some(attributes.read_integer().ok()?),
                    TAG_CPU_ARCH_PROFILE => found.profile = Some(attributes.read_integer().ok()?),
                    TAG_FP_ARCH => found.fp_architecture = attributes.read_integer().ok()?,
                    TAG_ABI_HARD_FP_USE => found.hard_fp = attributes.read_integer().ok()?,
                    TAG_MVE_ARCH => found.mve = attributes.read_integer().ok()?,
                    TAG_COMPATIBILITY => {
                        attributes.read_integer().ok()?;
                        attributes.read_string().ok()?;
                    }
                    // From 32 on, odd tags have strings.
                    33.. if tag % 2 == 1 => drop(attributes.read_string().ok()?),
                    _ => drop(attributes.read_integer().ok()?),
                }
            }
            return Some(found);
        }
    }
    None
}

fn named(architecture: Option<u64>, profile: Option<u64>) -> Option<Profile> {
    match profile.and_then(|letter| u8::try_from(letter).ok()) {
        Some(b'A') => Some(Profile::A),
        Some(b'R') => Some(Profile::R),
        Some(b'M') => Some(Profile::M),
        _ => architecture.filter(|number| M_ARCHITECTURES.contains(number)).map(|_| Profile::M),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_reported_by_its_letter_or_by_the_architecture() {
        for (architecture, profile, expected) in [
            (Some(10), Some(b'A'), Some(Profile::A)),
            (Some(10), Some(b'R'), Some(Profile::R)),
            (Some(10), Some(b'M'), Some(Profile::M)),
            (Some(11), None, Some(Profile::M)),
            (Some(13), Some(0), Some(Profile::M)),
            (Some(10), Some(b'S'), None),
            (Some(5), None, None),
            (None, None, None),
        ] {
            assert_eq!(named(architecture, profile.map(u64::from)), expected, "{architecture:?} {profile:?}");
        }
    }

    #[test]
    fn what_is_no_elf_file_reports_nothing() {
        assert_eq!(Attributes::of(b""), None);
        assert_eq!(Attributes::of(b"\x7fELF"), None);
    }

    #[test]
    fn another_core_is_named_and_ones_own_is_not() {
        let m = |name: &str, architecture, fp_architecture| Attributes {
            cpu_name: name.to_owned(),
            architecture: Some(architecture),
            profile: Some(u64::from(b'M')),
            fp_architecture,
            ..Attributes::default()
        };
        let a = |name: &str| Attributes { profile: Some(u64::from(b'A')), ..m(name, 10, 0) };
        for (attributes, own, expected) in [
            (m("6S-M", 12, 0), "Cortex-M4", Some("Cortex-M0 or M0+ (Armv6-M)")),
            (m("Cortex-M0plus", 12, 0), "Cortex-M4", Some("Cortex-M0PLUS")),
            (m("7-M", 10, 0), "Cortex-M4", Some("Cortex-M3 (Armv7-M)")),
            (m("7E-M", 13, 6), "Cortex-M4", None),
            (m("cortex-m4", 13, 6), "Cortex-M4", None),
            (m("7E-M", 13, 8), "Cortex-M4", Some("Cortex-M7 (FPv5)")),
            (m("cortex-m7", 13, 0), "Cortex-M4", Some("Cortex-M7")),
            (m("8-M.MAIN", 17, 0), "Cortex-M4", Some("Cortex-M33 (Armv8-M Mainline)")),
            (a("7-A"), "Cortex-A5", None),
            (a("cortex-a9"), "Cortex-A7", Some("Cortex-A9")),
            (a("ARM926EJ-S"), "Cortex-A5", Some("ARM926EJ-S")),
            (Attributes::default(), "Cortex-A5", None),
        ] {
            assert_eq!(attributes.other_than(own).as_deref(), expected, "{attributes:?}");
        }
        assert!(m("", 17, 0).is_newer() && !m("", 13, 8).is_newer());
        assert!(m("", 13, 6).wants_double() && !Attributes { hard_fp: 1, ..m("", 13, 6) }.wants_double());
    }
}
