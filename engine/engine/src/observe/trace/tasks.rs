//! The tasks that a core runs: a track with their time slices, in the order of time.

use std::sync::Arc;

use super::packets::{EXPLICIT, EventType, TracePacket, TrackDescriptor, TrackEvent};
use super::{Named, PS_PER_NS, Timeline};
use crate::time::Ps;

/// First identifier of task tracks.
const TASKS: u64 = 5 << 32;
/// They are shown above the core's other tracks.
const RANK: i32 = -1;

/// A period in which a core ran one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSlice {
    /// The name of the task.
    pub task: Arc<str>,
    /// When it began to run.
    pub begin: Ps,
    /// When another task began.
    pub end: Ps,
}

/// The tasks that a core ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreTasks {
    /// The core's label.
    pub core: String,
    /// In the order of time, without overlaps.
    pub slices: Vec<TaskSlice>,
}

impl Timeline {
    /// Describes the task tracks of cores.
    pub(super) fn describe_tasks(&mut self, tasks: Vec<CoreTasks>) {
        let mut slices = Vec::new();
        for (number, tasks) in tasks.into_iter().enumerate() {
            let uuid = TASKS + number as u64;
            let descriptor = TrackDescriptor {
                uuid: Some(uuid),
                name: Some("tasks".to_owned()),
                parent_uuid: self.scopes.get(&tasks.core).copied(),
                child_ordering: Some(EXPLICIT),
                sibling_order_rank: Some(RANK),
                counter: None,
            };
            self.packet(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() });
            slices.extend(tasks.slices.into_iter().map(|slice| (uuid, slice)));
        }
        self.task_slices = slices.into_iter();
    }

    /// Writes a slice of a task track, as far as it is in the window.
    pub(super) fn task_slice(&mut self, uuid: u64, slice: &TaskSlice) {
        let (from, to) = self.window;
        let (begin, end) = (slice.begin.max(from), slice.end.min(to));
        if begin >= end {
            return;
        }
        let (track_uuid, name_iid) = (Some(uuid), Some(self.names.of(Named::Event, &slice.task)));
        let mut debug_annotations = Vec::new();
        if !begin.0.is_multiple_of(PS_PER_NS) || !end.0.is_multiple_of(PS_PER_NS) {
            debug_annotations.extend([self.number("begin_ps", begin.0), self.number("end_ps", end.0)]);
        }
        let r#type = Some(EventType::SliceBegin.into());
        self.event(begin, TrackEvent { r#type, track_uuid, name_iid, debug_annotations, ..TrackEvent::default() });
        let r#type = Some(EventType::SliceEnd.into());
        self.event(end, TrackEvent { r#type, track_uuid, ..TrackEvent::default() });
    }
}
