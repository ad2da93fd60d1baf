//! Paths with common starts, as a tree of pieces. Pieces that no path can continue from any more are removed, and
//! complete pieces are summed up.

use std::collections::BTreeMap;

use super::path::{Path, Piece, What};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// A node of the tree: a path up to its end. Later nodes have higher numbers.
pub(super) type NodeId = u64;

/// Time 0.
pub(super) const ROOT: NodeId = 0;

/// The limit of nodes without sums: beyond it, the older half is taken as complete.
const MOST_NODES: usize = if cfg!(test) { 1 << 9 } else { 1 << 12 };
/// With fewer nodes, the tree is not searched.
const FEW_NODES: usize = 64;

#[derive(Clone, Debug, State, Fresh)]
struct Node {
    before: NodeId,
    piece: Piece,
    /// It gets no more waits.
    is_complete: bool,
    /// The sums up to here, once they are known: `before` may have been removed then.
    path: Option<Box<Path>>,
}

/// The tree of pieces.
#[derive(Clone, Debug, State, Fresh)]
pub(super) struct Nodes {
    nodes: BTreeMap<NodeId, Node>,
    next: NodeId,
    /// With more nodes than this it is time to search the tree.
    many: usize,
}

impl Default for Nodes {
    fn default() -> Nodes {
        Nodes { nodes: BTreeMap::new(), next: ROOT + 1, many: FEW_NODES }
    }
}

impl Nodes {
    /// Adds a piece that continues the path from `before`.
    pub fn add(&mut self, before: NodeId, piece: Piece) -> NodeId {
        let id = self.next;
        self.next += 1;
        self.nodes.insert(id, Node { before, piece, is_complete: false, path: None });
        id
    }

    /// When a piece begins and ends; `None` if it was removed.
    pub fn ends(&self, id: NodeId) -> Option<(Ps, Ps)> {
        self.nodes.get(&id).map(|node| (node.piece.begin, node.piece.end))
    }

    /// Adds a wait of the core to a piece.
    pub fn add_wait(&mut self, id: NodeId, what: What, time: Ps) {
        if let Some(node) = self.nodes.get_mut(&id) {
            *node.piece.waits.entry(what).or_default() += time.0;
        }
    }

    /// A piece gets no more waits.
    pub fn complete(&mut self, id: NodeId) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.is_complete = true;
        }
    }

    /// True if a piece may still get waits.
    pub fn is_incomplete(&self, id: NodeId) -> bool {
        self.nodes.get(&id).is_some_and(|node| !node.is_complete)
    }

    /// True if it is time for [`Nodes::settle`].
    pub fn are_many(&self) -> bool {
        self.nodes.len() > self.many
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Removes what no path needs any more. Paths continue only from `roots`, each named as often as a path does.
    pub fn settle(&mut self, roots: &[NodeId]) {
        self.sum_up(roots);
        if self.nodes.len() > MOST_NODES {
            let old = self.nodes.len() / 2;
            self.nodes.values_mut().take(old).for_each(|node| node.is_complete = true);
            self.sum_up(roots);
        }
        self.many = FEW_NODES.max(2 * self.nodes.len());
    }

    fn sum_up(&mut self, roots: &[NodeId]) {
        // The number of paths that continue from each node.
        let mut users: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut to_see: Vec<NodeId> = roots.to_vec();
        while let Some(id) = to_see.pop() {
            let count = users.entry(id).or_default();
            *count += 1;
            let is_new = *count == 1;
            to_see.extend(self.nodes.get(&id).filter(|node| is_new && node.path.is_none()).map(|node| node.before));
        }
        self.nodes.retain(|id, _| users.contains_key(id));
        // The node that a path continues from has a lower number.
        let complete = self.nodes.iter().filter(|(_, node)| node.is_complete && node.path.is_none());
        let complete: Vec<NodeId> = complete.map(|(id, _)| *id).collect();
        for id in complete {
            let before = self.nodes[&id].before;
            let is_only_one = users.get(&before) == Some(&1);
            let path = match self.nodes.get_mut(&before) {
                None => Some(Box::default()),
                Some(node) if is_only_one => node.path.take(),
                Some(node) => node.path.clone(),
            };
            let Some(mut path) = path else { continue };
            if is_only_one {
                self.nodes.remove(&before);
            } else {
                users.entry(before).and_modify(|count| *count -= 1);
            }
            if let Some(node) = self.nodes.get_mut(&id) {
                path.go_on(&node.piece);
                node.path = Some(path);
                // The sums include them.
                node.piece.waits.clear();
            }
        }
    }

    /// The path up to `last` and through a further piece, cut off at `end`.
    pub fn path_to(&self, mut last: NodeId, further: Option<Piece>, end: Ps) -> Path {
        let mut pieces: Vec<Piece> = further.into_iter().collect();
        let mut path = Path::default();
        while let Some(node) = self.nodes.get(&last) {
            if let Some(sums) = &node.path {
                path = (**sums).clone();
                break;
            }
            pieces.push(node.piece.clone());
            last = node.before;
        }
        for mut piece in pieces.into_iter().rev().filter(|piece| piece.begin < end) {
            piece.end = piece.end.min(end);
            path.go_on(&piece);
        }
        path
    }
}
