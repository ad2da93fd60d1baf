//! Request lines to DMA controllers: `dmas` and `dma-names`.

use super::super::fault::FaultKind;
use super::super::node::{Node, Property};
use super::{Declared, NodeReader};
use crate::dt::MOST_CELLS;
use crate::dt::wiring::IrqLine;

/// Controllers each of whose streams has requests of its own.
const OWN_REQUESTS: [&str; 2] = ["st,stm32-dma", "st,stm32-dma-v1"];

/// A request as `dmas` has it: the controller's phandle, and the cells behind it.
type Specifier<'a> = (u32, &'a [u32]);

impl NodeReader<'_, '_> {
    /// The node's DMA request line number `index`; `None` where the node has no such line. A line is an input of the
    /// controller, whose number its cells give ([`input`]).
    pub fn dma_request(&mut self, index: usize, meaning: &str) -> Option<IrqLine> {
        self.note_item("dmas", "DMA requests", index, false, meaning);
        let property = self.get("dmas")?;
        let cells = property.cells().unwrap_or_default();
        let specifier = specifiers(self.board.root, &cells).into_iter().nth(index)?;
        self.request_line(property, specifier)
    }

    /// All request lines that `dma-names` gives a name: several channels may listen to one request. Without
    /// `dma-names`, the line number `index`.
    pub fn dma_requests(&mut self, name: &str, index: usize, meaning: &str) -> Vec<IrqLine> {
        self.note_item("dmas", "DMA requests", index, false, meaning);
        let names = self.get("dma-names").and_then(Property::strings);
        let Some(property) = self.get("dmas") else { return Vec::new() };
        let cells = property.cells().unwrap_or_default();
        let is_it = |place: usize| match &names {
            Some(names) => names.get(place) == Some(&name),
            None => place == index,
        };
        let wanted = specifiers(self.board.root, &cells).into_iter().enumerate().filter(|(place, _)| is_it(*place));
        wanted.filter_map(|(_, specifier)| self.request_line(property, specifier)).collect()
    }

    /// DMA controllers that a property names, up to `most`, each by its first request line.
    pub fn dma_masters(&mut self, name: &str, most: usize, meaning: &str) -> Vec<IrqLine> {
        self.note(|| Declared::new(name, "DMA controllers", meaning));
        let Some(property) = self.get(name) else { return Vec::new() };
        let cells = property.cells().unwrap_or_default();
        let lines: Option<Vec<IrqLine>> =
            cells.iter().map(|controller| (self.board.interrupts)(*controller, &[0])).collect();
        if lines.is_none() || cells.len() > most {
            let expected = format!("up to {most} enabled DMA controllers: {meaning}");
            self.fault(&property.at, FaultKind::BadReference { property: name.to_owned(), expected });
        }
        lines.unwrap_or_default()
    }

    fn request_line(&mut self, property: &Property, (controller, cells): Specifier) -> Option<IrqLine> {
        let number = input(self.board.root.by_phandle(controller), cells);
        let line = number.and_then(|input| (self.board.interrupts)(controller, &[input]));
        if line.is_none() {
            let expected = "an enabled DMA controller and a request line that it has".to_owned();
            self.fault(&property.at, FaultKind::BadReference { property: "dmas".into(), expected });
        }
        line
    }
}

/// The requests that a property lists, by the number of cells that each controller has (`#dma-cells`).
fn specifiers<'a>(root: &Node, mut cells: &'a [u32]) -> Vec<Specifier<'a>> {
    let mut found = Vec::new();
    while let Some((controller, rest)) = cells.split_first() {
        let count = root.by_phandle(*controller).and_then(|node| node.property("#dma-cells"));
        let count = count.and_then(Property::cells).and_then(|cells| cells.first().copied()).unwrap_or(1);
        let (own, others) = rest.split_at(rest.len().min(count.min(MOST_CELLS) as usize));
        found.push((*controller, own));
        cells = others;
    }
    found
}

/// The controller's input that cells name. A single cell has it in its bits 30 to 24, as in Linux's binding of
/// `atmel,sama5d4-dma`. With more cells, as STM32's controllers have them, the first is a stream or channel, the second
/// the request. Each stream of an STM32F4 has 8 of its own: its input is 8 * stream + request. Others share all of
/// theirs: there it is the request.
fn input(controller: Option<&Node>, cells: &[u32]) -> Option<u32> {
    let has_own = |node: &Node| OWN_REQUESTS.iter().any(|name| node.compatibles().contains(name));
    match *cells {
        [] => None,
        [only] => Some(only >> 24 & 0x7f),
        [stream @ 0..8, request @ 0..8, ..] if controller.is_some_and(has_own) => Some(8 * stream + request),
        [_, request, ..] => Some(request).filter(|_| !controller.is_some_and(has_own)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dt::node::Location;

    fn controller(phandle: u32, compatible: &str, dma_cells: u32) -> Node {
        let at = Location { file: "test.dts".into(), line: 1 };
        let property = |name: &str, value: Vec<u8>| Property { name: name.into(), value, at: at.clone() };
        let properties = vec![
            property("compatible", [compatible.as_bytes(), &[0]].concat()),
            property("#dma-cells", dma_cells.to_be_bytes().to_vec()),
        ];
        let (path, name) = (format!("/dma@{phandle}"), format!("dma@{phandle}"));
        let labels = Vec::new();
        Node { path, name, labels, at: at.clone(), phandle: Some(phandle), properties, children: Vec::new() }
    }

    #[test]
    fn lines_go_by_the_controllers_cells() {
        let mut root = controller(0, "board", 0);
        root.children = vec![
            controller(1, "atmel,sama5d4-dma", 1),
            controller(2, "st,stm32-dma-v1", 4),
            controller(3, "st,stm32-dmamux", 3),
        ];
        let dmas = [2, 2, 4, 0x400, 3, 1, 5 << 24, 3, 2, 27, 0, 2, 8, 0, 0, 0, 2];
        let found = specifiers(&root, &dmas);
        let inputs: Vec<_> = found.iter().map(|(node, cells)| (*node, input(root.by_phandle(*node), cells))).collect();
        assert_eq!(inputs, [(2, Some(20)), (1, Some(5)), (3, Some(27)), (2, None), (2, None)]);
    }
}
