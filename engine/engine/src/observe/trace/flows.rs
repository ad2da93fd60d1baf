//! Interrupts as flows: from the device that raises a line, through interrupt controllers, to the core that takes it.

use std::collections::BTreeMap;

use crate::activity::{Detail, Kind, Span, Track};
use crate::time::Ps;

/// The most interrupt controllers that an interrupt passes.
const MOST_CONTROLLERS: usize = 4;

/// The flows that spans are part of, by the index of the span.
#[derive(Debug, Default)]
pub struct Flows {
    of: BTreeMap<usize, Vec<u64>>,
    /// The distances of spans from the core that is interrupted.
    distances: BTreeMap<usize, usize>,
}

impl Flows {
    /// The flows of all exceptions among `spans`, which are in the order of their begins.
    pub fn new(spans: &[Span], tracks: &[Track], cores: &[String]) -> Flows {
        let mut flows = Flows::default();
        // The spans in which lines were high, by where the lines end.
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

    /// By span, its distance from the core that it interrupts: 1 for a line that leads to the core.
    pub fn distances(&self) -> BTreeMap<usize, usize> {
        self.distances.clone()
    }

    /// The flows of a span.
    pub fn of(&self, place: usize) -> Vec<u64> {
        self.of.get(&place).cloned().unwrap_or_default()
    }
}

/// The latest of the given spans that began by `at`, unless it has ended before.
fn up_at(spans: &[Span], places: Option<&Vec<usize>>, at: Ps) -> Option<usize> {
    let places = places?;
    let after = places.partition_point(|place| spans[*place].begin <= at);
    let last = *places.get(after.checked_sub(1)?)?;
    let span = &spans[last];
    // A pulse has no length; the interrupt controller latches it.
    (span.last_end() >= at || span.begin == span.end).then_some(last)
}
