//! What devices do, as a run records it.

use cyclescope_engine::activity::{Activities as Engine, Kind, Kinds};
use cyclescope_engine::time::Ps;
use pyo3::prelude::*;

use crate::EngineError;
use crate::arguments::{Arg, List};

/// A track: label of the device, name and kind of the activity, part, and where an interrupt line ends.
type TrackItem = (String, &'static str, &'static str, u32, String);
/// The place of a track, begin, end, and detail.
type SpanItem = (u32, u64, u64, String);

/// What devices of a machine do.
#[pyclass(module = "cyclescope._engine", frozen)]
pub struct Activities(pub Engine);

/// The kinds of these names; all of them without any.
pub fn kinds_of(names: Option<List<String>>) -> PyResult<Kinds> {
    let Some(names) = names else { return Ok(Kinds::ALL) };
    let kind = |name: &String| {
        let known = || Kind::ALL.map(Kind::name).join(", ");
        let unknown = || EngineError::new_err(format!("no kind of activity '{}': {}", name.escape_debug(), known()));
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)
    };
    Ok(Kinds::of(&names.0.iter().map(kind).collect::<PyResult<Vec<_>>>()?))
}

#[pymethods]
impl Activities {
    /// From now on activities of these kinds (all, without any) are recorded in so much memory; what is too much drops
    /// what was told first. Raises EngineError for a kind that is none.
    #[pyo3(signature = (kinds=None, most_bytes=Arg(1 << 26)))]
    fn start(&self, kinds: Option<List<String>>, most_bytes: Arg<usize>) -> PyResult<()> {
        self.0.start(kinds_of(kinds)?, most_bytes.0);
        Ok(())
    }

    /// All tracks, of which spans name the places.
    fn tracks(&self) -> Vec<TrackItem> {
        let tracks = self.0.tracks().into_iter();
        tracks.map(|it| (it.scope, it.activity.name, it.activity.kind.name(), it.part, it.line)).collect()
    }

    /// What was done in `from_ps..to_ps`, each time by itself: at most `most` of it.
    fn instances(&self, from_ps: Arg<u64>, to_ps: Arg<u64>, most: Arg<usize>) -> Vec<SpanItem> {
        let spans = self.0.instances(Ps(from_ps.0), Ps(to_ps.0), most.0).into_iter();
        spans.map(|span| (span.track, span.begin.0, span.end.0, span.detail.to_string())).collect()
    }

    /// Spans that are kept, those that were dropped, from when on none is missing, and bytes of memory.
    fn summary(&self) -> (u64, u64, u64, usize) {
        let summary = self.0.summary();
        (summary.spans, summary.dropped, summary.complete_from.0, summary.bytes)
    }
}
