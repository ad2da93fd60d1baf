//! What went on while somebody waited: an interval, shared out among activities.

use super::Activity;
use super::recording::Recording;
use super::span::Span;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// What a wait may have been for.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Label of the device's node.
    pub scope: &'a str,
    /// What it does.
    pub activity: &'static Activity,
}

/// Tracks that a wait may have been for, each with its rank: lower ones come first.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Ranks {
    tracks: Vec<(u32, u8)>,
    /// Tracks that were looked at.
    seen: usize,
}

/// A part of an interval that is not shared out yet.
type Gap = (Ps, Ps);

/// A span of a track that counts, in the order in which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    rank: u8,
    begin: Ps,
    end: Ps,
    track: u32,
}

impl Recording {
    /// Brings `ranks` up to all tracks that there are: `rank` says what comes first, and what does not count.
    pub fn rank(&self, ranks: &mut Ranks, rank: impl Fn(Candidate) -> Option<u8>) {
        for track in ranks.seen..self.track_count() {
            if let Some(rank) = rank(self.candidate(track)) {
                ranks.tracks.push((track as u32, rank));
            }
        }
        ranks.seen = self.track_count();
    }

    /// Shares intervals, which follow each other, out among what went on then, in the order of ranks. Of equals, what
    /// began first has the time. Gives each interval with the tracks' parts, none of them 0.
    pub fn share(&self, intervals: &[Gap], ranks: &Ranks, mut shared: impl FnMut(Gap, &[(u32, Ps)])) {
        let (Some(first), Some(last)) = (intervals.first(), intervals.last()) else { return };
        let mut spans = self.ranked(first.0, last.1, ranks);
        spans.sort_unstable_by_key(|span| std::cmp::Reverse(span.begin));
        let (mut near, mut gaps, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for interval in intervals {
            near.retain(|span: &Ranked| span.end > interval.0);
            while let Some(span) = spans.pop_if(|span| span.begin < interval.1) {
                near.push(span);
            }
            near.sort_unstable();
            gaps.clear();
            gaps.push(*interval);
            shares.clear();
            for span in &near {
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

    /// What went on in an interval.
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
            // Spans of a track follow each other.
            self.backwards(*track).take_while(|span| span.last_end() > from).for_each(&mut add);
            if let Some(open) = self.open.get(track).filter(|open| open.begin < to) {
                spans.push(ranked(open.begin, to));
            }
        }
        spans
    }

    /// True if nothing of this went on.
    pub fn had_none(&self, (from, to): Gap, ranks: &Ranks) -> bool {
        self.ranked(from, to, ranks).is_empty()
    }
}

/// Takes what of `begin..end` is in the gaps out of them: how much that is.
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
