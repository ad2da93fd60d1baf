//! Interrupts as flows: from the device that raises a line, through interrupt controllers, to the core that takes it.

use std::collections::BTreeMap;

use crate::activity::{Detail, Kind, Span, Track};
use crate::time::Ps;

/// An interrupt passes no more controllers.
const MOST_CONTROLLERS: usize = 4;

/// Which flows a span is part of, by its place.
#[derive(Debug, Default)]
pub struct Flows {
    of: BTreeMap<usize, Vec<u64>>,
    /// How far spans are from the core that is interrupted.
    distances: BTreeMap<usize, usize>,
}

impl Flows {
    /// Those of all exceptions among `spans`, which are in the order of their begins.
    pub fn new(spans: &[Span], tracks: &[Track], cores: &[String]) -> Flows {
        let mut flows = Flows::default();
        // By where lines end: the spans in which they were up.
        let mut raised: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, span) in spans.iter().enumerate() {
            let track = &tracks[span.track as usize];
            if track.activity.kind == Kind::Interrupt {
                raised.entry(track.line.as_str()).or_default().push(place);
            }
        }
        let mut number = 0;
        for (place, span) in spans.iter().enumerate() {
            let Detail::Exception { input: Some(input), .. } = span.detail else { continue };
            let scope = &tracks[span.track as usize].scope;
            let Some(core) = cores.iter().position(|core| core == scope) else { continue };
            let mut cause = up_at(spans, raised.get(format!("core {core}, input {input}").as_str()), span.begin);
            if cause.is_some() {
                number += 1;
                flows.of.entry(place).or_default().push(number);
            }
            for distance in 1..=MOST_CONTROLLERS {
                let Some(from) = cause else { break };
                flows.of.entry(from).or_default().push(number);
                flows.distances.entry(from).or_insert(distance);
                let controller = format!("{}, ", tracks[spans[from].track as usize].scope);
                let lines = raised.range(controller.as_str()..).take_while(|(line, _)| line.starts_with(&controller));
                let ups = lines.filter_map(|(_, places)| up_at(spans, Some(places), spans[from].begin));
                cause = ups.max_by_key(|up| spans[*up].begin);
            }
        }
        flows
    }

    /// By span, how far it is from the core that it interrupts: 1 for what is raised there itself.
    pub fn distances(&self) -> BTreeMap<usize, usize> {
        self.distances.clone()
    }

    /// The flows of a span.
    pub fn of(&self, place: usize) -> Vec<u64> {
        self.of.get(&place).cloned().unwrap_or_default()
    }
}

/// The latest of these spans that began by `at`, if it has not ended before.
fn up_at(spans: &[Span], places: Option<&Vec<usize>>, at: Ps) -> Option<usize> {
    let places = places?;
    let after = places.partition_point(|place| spans[*place].begin <= at);
    let last = *places.get(after.checked_sub(1)?)?;
    let span = &spans[last];
    // A pulse has no length, and is remembered by who gets it.
    (span.last_end() >= at || span.begin == span.end).then_some(last)
}
