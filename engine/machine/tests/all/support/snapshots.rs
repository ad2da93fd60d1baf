//! Runs that are interrupted for a snapshot, and continue from it.

use crate::debugging::Halt;
use crate::snapshots::Snapshot;
use crate::{Machine, Outcome, Printed, RunReport};
use engine::time::Ps;

/// The longest that a program may take.
const LONGEST: Ps = Ps::from_us(10_000);

/// All visible results of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub console: Vec<u8>,
    pub streams: Vec<u8>,
    pub registers: Vec<u32>,
    pub profiles: String,
    pub report: Option<RunReport>,
}

impl Seen {
    fn print(&mut self, printed: &Printed) {
        self.console.extend_from_slice(&printed.console);
        printed.streams.iter().for_each(|(_, bytes)| self.streams.extend_from_slice(bytes));
    }

    fn end(mut self, machine: &mut Machine, report: RunReport) -> Seen {
        self.registers = machine.registers();
        self.profiles = format!("{:?}", machine.profiles());
        self.report = Some(report);
        self
    }

    /// The results of a machine that continues.
    fn run_on(mut self, machine: &mut Machine) -> Seen {
        let report = machine.run(LONGEST, |printed| {
            self.print(printed);
            true
        });
        self.end(machine, report)
    }
}

/// Runs a machine to its end.
pub fn run(machine: &mut Machine) -> Seen {
    Seen::default().run_on(machine)
}

/// The first lines in which two runs differ.
fn first_difference(one: &Seen, other: &Seen) -> String {
    let of_profiles = |seen: &Seen| seen.profiles.replace(", ", ",\n");
    let texts = [one, other].map(|seen| format!("{seen:#?}\n{}", of_profiles(seen)));
    let mut pairs = texts[0].lines().zip(texts[1].lines()).enumerate();
    match pairs.find(|(_, (one, other))| one != other && !one.contains("profiles:")) {
        Some((line, _)) => {
            let around =
                |text: &str| text.lines().skip(line.saturating_sub(12)).take(16).collect::<Vec<_>>().join("\n");
            format!("{}\n---- instead of\n{}", around(&texts[0]), around(&texts[1]))
        }
        None => "one has more".to_owned(),
    }
}

/// A machine that continues from a snapshot of the end has ended, at the same time.
fn stays_ended(build: &impl Fn() -> Machine, whole: &Seen) {
    let mut machine = build();
    let Halt::Ended(outcome) = machine.resume(None, None, LONGEST, |_| true) else { panic!("nothing halts it") };
    let mut restored = build();
    restored.restore(&machine.snapshot().unwrap()).unwrap();
    let again = restored.run(Ps(2 * LONGEST.0), |_| true);
    let report = whole.report.as_ref().unwrap();
    if !matches!(outcome, Outcome::Limit(_)) {
        assert_eq!((&again.outcome, again.elapsed), (&report.outcome, report.elapsed));
        assert_eq!(again.cores[0].instructions, report.cores[0].instructions);
    }
}

/// Runs a machine to each of the given times, takes a snapshot, and loads it from bytes into another machine, and into
/// the same one when it has run to its end: both continue to the results of a run without snapshots.
pub fn change_nothing(build: impl Fn() -> Machine, times: impl IntoIterator<Item = Ps>) -> Seen {
    let whole = run(&mut build());
    let mut taken = 0;
    for time in times {
        let (mut machine, mut seen) = (build(), Seen::default());
        let ended = machine.run_to(time, |printed| {
            seen.print(printed);
            true
        });
        if let Some(report) = ended {
            assert!(seen.end(&mut machine, report) == whole, "run to {time}");
            continue;
        }
        taken += 1;
        let snapshot = machine.snapshot().unwrap();
        let bytes = snapshot.to_bytes();
        let snapshot = Snapshot::from_bytes(&bytes).unwrap();
        let mut restored = build();
        restored.restore(&snapshot).unwrap();
        assert!(restored.snapshot().unwrap() == snapshot, "a snapshot at {time} is another when it was loaded");
        let check = |how: &str, again: Seen| {
            assert!(again == whole, "{how} a snapshot at {time}: {}", first_difference(&again, &whole));
        };
        check("behind", seen.clone().run_on(&mut machine));
        check("from", seen.clone().run_on(&mut restored));
        machine.restore(&snapshot).unwrap();
        check("back at", seen.run_on(&mut machine));
    }
    stays_ended(&build, &whole);
    assert!(taken > 0, "no snapshot was taken before {:?}", whole.report.map(|report| report.elapsed));
    whole
}
