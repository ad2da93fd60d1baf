//! Activities during a wait: the time of an interval is assigned to them.

use super::Activity;
use super::recording::Recording;
use super::span::Span;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// An activity that a wait may have been for.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Label of the device's node.
    pub scope: &'a str,
    /// The activity.
    pub activity: &'static Activity,
}

/// Tracks that a wait may have been for, each with its rank: lower ones come first.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Ranks {
    tracks: Vec<(u32, u8)>,
    /// The number of tracks that have been ranked.
    seen: usize,
}

/// A part of an interval that has not been assigned yet.
type Gap = (Ps, Ps);

/// A span of a ranked track. The order is the order of assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    rank: u8,
    begin: Ps,
    end: Ps,
    track: u32,
}

impl Recording {
    /// Extends `ranks` to all tracks. `rank` gives the rank of a track, or `None` for one that gets no time.
    pub fn rank(&self, ranks: &mut Ranks, rank: impl Fn(Candidate) -> Option<u8>) {
        for track in ranks.seen..self.track_count() {
            if let Some(rank) = rank(self.candidate(track)) {
                ranks.tracks.push((track as u32, rank));
            }
        }
        ranks.seen = self.track_count();
    }

    /// Assigns the time of consecutive intervals to the spans of that time, in the order of ranks; of spans with equal
    /// ranks, to the one that began first. Gives each interval to `shared`, with the time of each track that has any.
    pub fn share(&self, intervals: &[Gap], ranks: &Ranks, mut shared: impl FnMut(Gap, &[(u32, Ps)])) {
        let (Some(first), Some(last)) = (intervals.first(), intervals.last()) else { return };
        let mut spans = self.ranked(first.0, last.1, ranks);
        spans.sort_unstable_by_key(|span| std::cmp::Reverse(span.begin));
        let (mut current, mut gaps, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for interval in intervals {
            current.retain(|span: &Ranked| span.end > interval.0);
            while let Some(span) = spans.pop_if(|span| span.begin < interval.1) {
                current.push(span);
            }
            current.sort_unstable();
            gaps.clear();
            gaps.push(*interval);
            shares.clear();
            for span in &current {
                let taken = take(&mut gaps, span.begin, span.end);
                if taken > Ps::ZERO {
                    match shares.iter_mut().find(|(known, _)| *known == span.track) {
                        Some((_, sum)) => *sum += taken,
                        None => shares.push((span.track, taken)),
                    }
                }
                if gaps.is_empty() {
                    break;
                }
            }
            shared(*interval, &shares);
        }
    }

    /// The spans of ranked tracks that overlap an interval.
    fn ranked(&self, from: Ps, to: Ps, ranks: &Ranks) -> Vec<Ranked> {
        let mut spans = Vec::new();
        for (track, rank) in &ranks.tracks {
            let ranked = |begin, end| Ranked { rank: *rank, begin, end, track: *track };
            let mut add = |span: &Span| match span.times {
                1 if span.begin < to && span.end > from => spans.push(ranked(span.begin, span.end)),
                1 => {}
                _ => spans.extend(span.instances_within(from, to).map(|(begin, end)| ranked(begin, end))),
            };
            self.kept.iter().filter(|span| span.track == *track).for_each(&mut add);
            // Spans of a track are in the order of time.
            self.backwards(*track).take_while(|span| span.last_end() > from).for_each(&mut add);
            if let Some(open) = self.open.get(track).filter(|open| open.begin < to) {
                spans.push(ranked(open.begin, to));
            }
        }
        spans
    }

    /// True if no ranked track has a span that overlaps the interval.
    pub fn had_none(&self, (from, to): Gap, ranks: &Ranks) -> bool {
        self.ranked(from, to, ranks).is_empty()
    }
}

/// Removes `begin..end` from the gaps, and gives the time that was removed.
fn take(gaps: &mut Vec<Gap>, begin: Ps, end: Ps) -> Ps {
    let mut taken = Ps::ZERO;
    let mut left = Vec::with_capacity(gaps.len() + 1);
    for (from, to) in gaps.drain(..) {
        let (first, last) = (from.max(begin), to.min(end));
        if last <= first {
            left.push((from, to));
            continue;
        }
        taken += last - first;
        left.extend([(from, first), (last, to)].into_iter().filter(|(from, to)| to > from));
    }
    *gaps = left;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_gone() {
        let mut gaps = vec![(Ps(0), Ps(100))];
        assert_eq!(take(&mut gaps, Ps(20), Ps(30)), Ps(10));
        assert_eq!(take(&mut gaps, Ps(10), Ps(50)), Ps(30));
        assert_eq!(take(&mut gaps, Ps(90), Ps(500)), Ps(10));
        assert_eq!(gaps, [(Ps(0), Ps(10)), (Ps(50), Ps(90))]);
        assert_eq!(take(&mut gaps, Ps(0), Ps(1000)), Ps(50));
        assert!(gaps.is_empty());
    }
}
