//! Operations of c7 and c8: caches, TLBs, branch predictors, barriers, translation (ARM, B4.2).

use super::{Access, Barrier, Effect, Kind, Lines, Lookup, Maintenance, TlbEntries};

/// In TLB operations by address, the low bits have the ASID.
const PAGE_MASK: u32 = 0xffff_f000;

/// The effect of a write of `value` to c7 with these CRm and opc2.
pub(super) fn cache_operation(crm: u32, opc2: u32, value: u32) -> Option<Effect> {
    let dcache = |lines, clean, invalidate| Maintenance::Dcache { lines, clean, invalidate };
    let (at, set_way) = (Lines::At(value), Lines::SetWay(value));
    // ICIALLUIS, BPIALLIS: the Inner Shareable domain is the cluster.
    let reaches_all = crm == 1;
    let maintain = if reaches_all { Effect::MaintainAll } else { Effect::Maintain };
    Some(maintain(match (crm, opc2) {
        // Wait for interrupt and prefetch of ARMv6: no operations.
        (0, 4) | (13, 1) => return Some(Effect::Next),
        (1 | 5, 0) => Maintenance::Icache(Lines::All),
        (1 | 5, 6) => Maintenance::BranchPredictor(Lines::All),
        (5, 1) => Maintenance::Icache(at),
        (5, 4) => Maintenance::Barrier(Barrier::InstructionSynchronization),
        (5, 7) => Maintenance::BranchPredictor(at),
        (6, 1) => dcache(at, false, true),
        (6, 2) => dcache(set_way, false, true),
        (8, 0..=3) => return Some(Effect::Translate(lookup(opc2, value))),
        (10 | 11, 1) => dcache(at, true, false),
        (10, 2) => dcache(set_way, true, false),
        (10, 4) => Maintenance::Barrier(Barrier::DataSynchronization),
        (10, 5) => Maintenance::Barrier(Barrier::DataMemory),
        (14, 1) => dcache(at, true, true),
        (14, 2) => dcache(set_way, true, true),
        _ => return None,
    }))
}

/// True for the barriers: User mode may use them.
pub(super) fn is_barrier(crm: u32, opc2: u32) -> bool {
    matches!((crm, opc2), (5, 4) | (10, 4 | 5))
}

/// ATS1CPR, ATS1CPW, ATS1CUR, ATS1CUW.
fn lookup(opc2: u32, va: u32) -> Lookup {
    let kind = if opc2 & 1 != 0 { Kind::Write } else { Kind::Read };
    Lookup { va, access: Access { kind, privileged: opc2 & 2 == 0 } }
}

/// The effect of a write of `value` to c8 with these CRm and opc2. There is one TLB for instructions and data.
pub(super) fn tlb_operation(crm: u32, opc2: u32, value: u32) -> Option<Effect> {
    let asid = value as u8;
    let entries = match (crm, opc2) {
        (3 | 5..=7, 0) => TlbEntries::All,
        (3 | 5..=7, 1) => TlbEntries::Page { va: value & PAGE_MASK, asid },
        (3 | 5..=7, 2) => TlbEntries::Asid(asid),
        (3 | 7, 3) => TlbEntries::PageOfAll(value & PAGE_MASK),
        _ => return None,
    };
    // TLBIALLIS and similar.
    let reaches_all = crm == 3;
    let maintain = if reaches_all { Effect::MaintainAll } else { Effect::Maintain };
    Some(maintain(Maintenance::Tlb(entries)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_reported_apart() {
        let dcache = |lines, clean, invalidate| Effect::Maintain(Maintenance::Dcache { lines, clean, invalidate });
        let (at, way) = (Lines::At(0x1234), Lines::SetWay(0x1234));
        let rows = [
            ((1, 0), Effect::MaintainAll(Maintenance::Icache(Lines::All))),
            ((1, 6), Effect::MaintainAll(Maintenance::BranchPredictor(Lines::All))),
            ((5, 0), Effect::Maintain(Maintenance::Icache(Lines::All))),
            ((5, 1), Effect::Maintain(Maintenance::Icache(at))),
            ((6, 1), dcache(at, false, true)),
            ((6, 2), dcache(way, false, true)),
            ((10, 1), dcache(at, true, false)),
            ((11, 1), dcache(at, true, false)),
            ((14, 2), dcache(way, true, true)),
            ((10, 4), Effect::Maintain(Maintenance::Barrier(Barrier::DataSynchronization))),
            ((13, 1), Effect::Next),
        ];
        for ((crm, opc2), effect) in rows {
            assert_eq!(cache_operation(crm, opc2, 0x1234), Some(effect));
        }
        assert_eq!(cache_operation(6, 0, 0), None);
    }

    #[test]
    fn tlb_entries_are_chosen_by_page_and_asid() {
        let tlb = |entries| Some(Effect::Maintain(Maintenance::Tlb(entries)));
        assert_eq!(tlb_operation(7, 0, 5), tlb(TlbEntries::All));
        assert_eq!(tlb_operation(5, 1, 0x1234_5678), tlb(TlbEntries::Page { va: 0x1234_5000, asid: 0x78 }));
        let all_cores = Effect::MaintainAll(Maintenance::Tlb(TlbEntries::Asid(0xff)));
        assert_eq!(tlb_operation(3, 2, 0x1ff), Some(all_cores));
        assert_eq!(tlb_operation(7, 3, 0x1234_5678), tlb(TlbEntries::PageOfAll(0x1234_5000)));
        assert_eq!(tlb_operation(5, 3, 0), None);
    }

    #[test]
    fn lookups_say_for_whom_and_what() {
        let Some(Effect::Translate(lookup)) = cache_operation(8, 3, 0x1000) else { panic!("no lookup") };
        assert_eq!(lookup, Lookup { va: 0x1000, access: Access { kind: Kind::Write, privileged: false } });
    }
}
