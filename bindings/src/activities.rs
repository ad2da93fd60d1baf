//! The class `Activities`: a recording of the activities of devices.

use engine::activity::{Activities as Engine, Kind, Kinds};
use engine::time::Ps;
use pyo3::prelude::*;

use crate::EngineError;
use crate::arguments::{Arg, List};

/// A track: label of the device, name and kind of the activity, number of the part, and where an interrupt line ends.
type TrackItem = (String, &'static str, &'static str, u32, String);
/// Index of the track, begin, end, and detail.
type SpanItem = (u32, u64, u64, String);

/// The activities of a machine's devices.
#[pyclass(module = "cyclescope._engine", frozen)]
pub struct Activities(pub Engine);

/// The kinds with the given names; all kinds without a list.
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
    /// Records activities of the given kinds (all, without a list) from now on. When they take more than `most_bytes`,
    /// the spans that were recorded first are dropped. Raises EngineError for an unknown kind.
    #[pyo3(signature = (kinds=None, most_bytes=Arg(1 << 26)))]
    fn start(&self, kinds: Option<List<String>>, most_bytes: Arg<usize>) -> PyResult<()> {
        self.0.start(kinds_of(kinds)?, most_bytes.0);
        Ok(())
    }

    /// All tracks. Spans name them by index.
    fn tracks(&self) -> Vec<TrackItem> {
        let tracks = self.0.tracks().into_iter();
        tracks.map(|it| (it.scope, it.activity.name, it.activity.kind.name(), it.part, it.line)).collect()
    }

    /// The spans that overlap `from_ps..to_ps`, each repetition by itself: at most `most`.
    fn instances(&self, from_ps: Arg<u64>, to_ps: Arg<u64>, most: Arg<usize>) -> Vec<SpanItem> {
        let spans = self.0.instances(Ps(from_ps.0), Ps(to_ps.0), most.0).into_iter();
        spans.map(|span| (span.track, span.begin.0, span.end.0, span.detail.to_string())).collect()
    }

    /// The number of spans that are kept, the number of dropped ones, the time from which on none is missing, and bytes
    /// of memory.
    fn summary(&self) -> (u64, u64, u64, usize) {
        let summary = self.0.summary();
        (summary.spans, summary.dropped, summary.complete_from.0, summary.bytes)
    }
}
