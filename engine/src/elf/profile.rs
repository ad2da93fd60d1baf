//! Which kind of Arm core a program was built for, as its build attributes tell (Addenda to the ABI for the Arm
//! Architecture, "Build attributes": Tag_CPU_arch and Tag_CPU_arch_profile).

use object::Endianness;
use object::elf::{self, FileHeader32};
use object::read::elf::{AttributesSection, ElfFile, SectionHeader};

const TAG_FILE: u8 = 1;
const TAG_CPU_RAW_NAME: u64 = 4;
const TAG_CPU_NAME: u64 = 5;
const TAG_CPU_ARCH: u64 = 6;
const TAG_CPU_ARCH_PROFILE: u64 = 7;
const TAG_COMPATIBILITY: u64 = 32;
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
    /// What users call such a core.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::A => "Cortex-A",
            Profile::R => "Cortex-R",
            Profile::M => "Cortex-M",
        }
    }
}

/// The profile that an ELF file was built for; `None` if it does not say.
pub fn profile_of(data: &[u8]) -> Option<Profile> {
    let file = ElfFile::<FileHeader32<Endianness>>::parse(data).ok()?;
    let sections = file.elf_section_table();
    let section = sections.iter().find(|section| section.sh_type(file.endian()) == elf::SHT_ARM_ATTRIBUTES)?;
    let attributes = section.attributes(file.endian(), data).ok()?;
    in_section(&attributes)
}

fn in_section(section: &AttributesSection<FileHeader32<Endianness>>) -> Option<Profile> {
    let mut subsections = section.subsections().ok()?;
    while let Some(subsection) = subsections.next().ok()? {
        let mut parts = subsection.subsubsections();
        while let Some(part) = parts.next().ok()? {
            if subsection.vendor() != b"aeabi" || part.tag().0 != TAG_FILE {
                continue;
            }
            let mut attributes = part.attributes();
            let (mut architecture, mut profile) = (None, None);
            while let Some(tag) = attributes.read_tag().ok()? {
                match tag {
                    TAG_CPU_RAW_NAME | TAG_CPU_NAME => drop(attributes.read_string().ok()?),
                    TAG_CPU_ARCH => architecture = Some(attributes.read_integer().ok()?),
                    TAG_CPU_ARCH_PROFILE => profile = Some(attributes.read_integer().ok()?),
                    TAG_COMPATIBILITY => {
                        attributes.read_integer().ok()?;
                        attributes.read_string().ok()?;
                    }
                    // From 32 on, odd tags have strings.
                    33.. if tag % 2 == 1 => drop(attributes.read_string().ok()?),
                    _ => drop(attributes.read_integer().ok()?),
                }
            }
            return named(architecture, profile);
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
    fn the_profile_is_told_by_its_letter_or_by_the_architecture() {
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
    fn what_is_no_elf_file_tells_nothing() {
        assert_eq!(profile_of(b""), None);
        assert_eq!(profile_of(b"\x7fELF"), None);
    }
}
