//! DMA request lines by their names: `dmas` and `dma-names`, as Linux's bindings have them.

use super::super::fault::FaultKind;
use super::super::inputs;
use super::super::node::Property;
use super::super::wiring::IrqLine;
use super::{Declared, NodeReader};
use crate::dt::MOST_CELLS;

const PROPERTY: &str = "dmas";

impl NodeReader<'_, '_> {
    /// The node's DMA request line number `index`, of controllers with one cell; `None` where the node has no such
    /// line.
    pub fn dma_request(&mut self, index: usize, meaning: &str) -> Option<IrqLine> {
        self.note_item(PROPERTY, "DMA requests", index, false, meaning);
        let property = self.get(PROPERTY)?;
        let cells = property.cells().unwrap_or_default();
        let [controller, cell] = *cells.chunks_exact(2).nth(index)? else { return None };
        let input = self.board.root.by_phandle(controller).and_then(|node| inputs::request(node, &[cell]));
        let line = input.and_then(|input| (self.board.interrupts)(controller, &[input]));
        if line.is_none() {
            let expected = "an enabled DMA controller and a request line that it has".to_owned();
            self.fault(&property.at, FaultKind::BadReference { property: PROPERTY.into(), expected });
        }
        line
    }

    /// The request lines of the node that `dma-names` calls `name`: a request may lead to several places, and each has
    /// an entry in `dmas` under the same name. Empty if the node has no such name.
    pub fn dma_lines(&mut self, name: &str, meaning: &str) -> Vec<IrqLine> {
        self.known(&["dma-names"]);
        self.note(|| Declared::new(PROPERTY, "DMA requests", &format!("\"{name}\": {meaning}")));
        let Some(property) = self.get(PROPERTY) else { return Vec::new() };
        let names = self.node.property("dma-names").and_then(Property::strings).unwrap_or_default();
        let cells = property.cells().unwrap_or_default();
        let (mut lines, mut rest, mut index) = (Vec::new(), &cells[..], 0);
        while let Some((controller, after)) = rest.split_first() {
            let node = self.board.root.by_phandle(*controller);
            let width = node.and_then(|node| node.property("#dma-cells")).and_then(Property::cells);
            let width = width.and_then(|cells| cells.first().copied()).unwrap_or(1).clamp(1, MOST_CELLS) as usize;
            let input = node.zip(after.get(..width)).and_then(|(node, cells)| inputs::request(node, cells));
            match input.and_then(|input| (self.board.interrupts)(*controller, &[input])) {
                Some(line) if names.get(index) == Some(&name) => lines.push(line),
                Some(_) => {}
                None => {
                    let expected = "enabled DMA controllers and request lines that they have".to_owned();
                    self.fault(&property.at, FaultKind::BadReference { property: PROPERTY.into(), expected });
                    break;
                }
            }
            (rest, index) = (after.get(width..).unwrap_or_default(), index + 1);
        }
        lines
    }

    /// Lines that a property names by pairs, each a device and the number of its input.
    pub fn trigger_lines(&mut self, name: &str, meaning: &str) -> Vec<IrqLine> {
        self.note(|| Declared::new(name, "devices and inputs", meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        let cells = property.cells().unwrap_or_default();
        let (pairs, rest) = cells.as_chunks::<2>();
        let lines: Option<Vec<IrqLine>> =
            pairs.iter().map(|[device, input]| (self.board.interrupts)(*device, &[*input])).collect();
        if lines.is_none() || !rest.is_empty() {
            let expected = "pairs of an enabled device and one of its inputs".to_owned();
            self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
        }
        lines.unwrap_or_default()
    }

    /// DMA controllers that a property names, up to `most`, each by its first request line.
    pub fn dma_masters(&mut self, name: &str, most: usize, meaning: &str) -> Vec<IrqLine> {
        self.note(|| Declared::new(name, "DMA controllers", meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        let cells = property.cells().unwrap_or_default();
        let lines = cells.iter().map(|controller| (self.board.interrupts)(*controller, &[0]));
        let lines: Option<Vec<IrqLine>> = lines.collect();
        if lines.is_none() || cells.len() > most {
            let expected = format!("up to {most} enabled DMA controllers: {meaning}");
            self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
        }
        lines.unwrap_or_default()
    }
}
