//! Why a program ends: the reason codes of SYS_EXIT and SYS_EXIT_EXTENDED.

use super::Answer;
use super::host::Host;

/// ADP_Stopped_ApplicationExit: the application ended of itself.
const APPLICATION_EXIT: u32 = 0x2_0026;
/// The status of a program that ended for another reason.
const FAILURE: i32 = 1;

/// Other reasons, behind "ADP_Stopped_".
const REASONS: [(u32, &str); 17] = [
    (0x2_0000, "BranchThroughZero"),
    (0x2_0001, "UndefinedInstr"),
    (0x2_0002, "SoftwareInterrupt"),
    (0x2_0003, "PrefetchAbort"),
    (0x2_0004, "DataAbort"),
    (0x2_0005, "AddressException"),
    (0x2_0006, "IRQ"),
    (0x2_0007, "FIQ"),
    (0x2_0020, "BreakPoint"),
    (0x2_0021, "WatchPoint"),
    (0x2_0022, "StepComplete"),
    (0x2_0023, "RunTimeErrorUnknown"),
    (0x2_0024, "InternalError"),
    (0x2_0025, "UserInterruption"),
    (0x2_0027, "StackOverflow"),
    (0x2_0028, "DivisionByZero"),
    (0x2_0029, "OSSpecific"),
];

/// The end of a program: with a status of its own, if it gives one and ended of itself. The user is told any other
/// reason.
pub(super) fn exit(host: &mut Host, reason: u32, status: Option<u32>) -> Answer {
    if reason == APPLICATION_EXIT {
        return Answer::Exit(status.unwrap_or(0) as i32);
    }
    let name = REASONS.iter().find(|(code, _)| *code == reason);
    let name =
        name.map_or("a reason that is none of semihosting's".to_owned(), |(_, name)| format!("ADP_Stopped_{name}"));
    host.note(format!("semihosting: the firmware ended with {name} ({reason:#x}): status {FAILURE}"));
    Answer::Exit(FAILURE)
}
