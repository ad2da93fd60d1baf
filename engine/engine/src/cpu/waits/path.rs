//! Waits on the critical path ([`crate::observe::critical_path`]): episodes, split at the ends of pieces of a path.

use super::sharing::{self, Episode, Growth, KnownRanks, Waited};
use crate::bus::Bus;
use crate::observe::critical_path::{Paths, What};
use crate::time::Ps;

/// Adds an episode of a core to the core's path; `waited` are its waits.
pub(super) fn add(
    bus: &Bus,
    paths: &mut Paths,
    ranks: &mut KnownRanks,
    core: u32,
    episode: &Episode,
    waited: Option<Waited>,
) {
    let whole = episode.whole;
    for (place, from, to) in paths.places(core, whole.0, whole.1) {
        let part = match (from, to) == whole {
            true => waited.clone(),
            false => clipped(episode, from, to).and_then(|part| sharing::waited(bus, ranks, &part)),
        };
        for (what, time) in part.map(|part| rows(paths, part)).unwrap_or_default() {
            paths.add_wait(core, place, what, time);
        }
    }
}

/// The part of an episode between two times, if any.
fn clipped(episode: &Episode, from: Ps, to: Ps) -> Option<Episode> {
    let pieces = episode.pieces().iter().map(|(begin, end)| ((*begin).max(from), (*end).min(to)));
    let pieces: Vec<(Ps, Ps)> = pieces.filter(|(begin, end)| begin < end).collect();
    let whole = (pieces.first()?.0, pieces.last()?.1);
    Some(Episode {
        found: episode.found.clone(),
        whole,
        pieces,
        memory: Growth::default(),
        within: episode.within.clone(),
    })
}

fn rows(paths: &mut Paths, waited: Waited) -> Vec<(What, Ps)> {
    let Waited { activities, looking, asleep, .. } = waited;
    let activities = activities.into_iter().map(|(track, time)| (What::Activity(track), Ps(time)));
    let looking = looking.into_iter().map(|(device, time)| (What::Looking(device), Ps(time)));
    let asleep = asleep.into_iter().map(|(label, time)| (What::Asleep(paths.label_place(&label)), Ps(time)));
    activities.chain(looking).chain(asleep).collect()
}
