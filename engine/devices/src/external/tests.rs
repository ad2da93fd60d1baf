use super::*;
use crate::bench::{cells, node, read_tree};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Reply};
use engine::dt::node::Node;
use engine::polling::{Poll, Polled};

/// A device that keeps the values of its node.
#[derive(engine::state::State)]
struct Remembers;

impl Device for Remembers {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }
}

impl Polled for Remembers {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn model(properties: Vec<(&str, PropertyKind)>, make: Make) -> ExternalModel {
    let property =
        |(name, kind): (&str, PropertyKind)| Property { name: name.to_owned(), meaning: format!("the {name}"), kind };
    ExternalModel {
        compatible: "acme,part".to_owned(),
        replaces: false,
        properties: properties.into_iter().map(property).collect(),
        ignored: vec!["vcc-supply".to_owned()],
        clocks: Vec::new(),
        interrupts: Vec::new(),
        pins: Vec::new(),
        make,
    }
}

fn device(properties: Vec<(&str, PropertyKind)>) -> ExternalModel {
    model(properties, Make::Device(0, Box::new(|_| Ok(Box::new(Remembers)))))
}

fn tree(properties: Vec<(&str, Vec<u8>)>) -> Node {
    node("", None, Vec::new(), vec![node("part", None, properties, Vec::new())])
}

/// The values of a node, and its faults.
fn read(model: &ExternalModel, properties: Vec<(&str, Vec<u8>)>) -> (Vec<Value>, Vec<String>) {
    read_tree(&tree(properties), |reader| model.read(reader).values)
}

fn kinds() -> Vec<(&'static str, PropertyKind)> {
    vec![
        ("count", PropertyKind::Number(Numbers::Range(1..=5), Some(2))),
        ("wait-cycles", PropertyKind::Timing(Numbers::Range(0..=u32::MAX), Some((3, "derived: 1 + 2".into())))),
        ("flag", PropertyKind::Flag),
        ("text", PropertyKind::Text("none".into())),
        ("word", PropertyKind::Word(vec!["slow".into(), "fast".into()])),
        ("list", PropertyKind::Numbers(vec![1, 2])),
    ]
}

#[test]
fn each_kind_of_property_is_read_or_has_its_default() {
    let model = device(kinds());
    let text = |text: &str| Value::Text(text.to_owned());
    let defaults = [Value::Number(2), Value::Number(3), Value::Flag(false), text("none"), text("slow")];
    let (values, faults) = read(&model, Vec::new());
    assert_eq!((&values[..5], &values[5]), (&defaults[..], &Value::Numbers(vec![1, 2])));
    assert_eq!(faults, [""; 0]);
    let given = vec![
        ("count", cells(&[5])),
        ("wait-cycles", cells(&[7])),
        ("flag", Vec::new()),
        ("text", b"some\0".to_vec()),
        ("word", b"fast\0".to_vec()),
        ("list", cells(&[7, 8, 9])),
        ("vcc-supply", cells(&[1])),
    ];
    let (values, faults) = read(&model, given);
    let expected = [Value::Number(5), Value::Number(7), Value::Flag(true), text("some"), text("fast")];
    assert_eq!((&values[..5], &values[5]), (&expected[..], &Value::Numbers(vec![7, 8, 9])));
    assert_eq!(faults, [""; 0]);
}

#[test]
fn what_does_not_fit_is_a_fault() {
    let model = device(kinds());
    let given = vec![
        ("count", cells(&[6])),
        ("wait-cycles", cells(&[1_000_001])),
        ("flag", vec![1]),
        ("text", vec![1]),
        ("word", b"slower\0".to_vec()),
        ("list", vec![1, 2]),
        ("counter", cells(&[1])),
    ];
    let (_, faults) = read(&model, given);
    let expected = [
        "count is 6; it may be 1 to 5",
        "wait-cycles is 1000001; it may be 0 to 1000000",
        "flag must be empty (a flag has no value)",
        "text must be a single string",
        "word is \"slower\"; it is one of slow, fast",
        "list must be cells",
        "unknown property 'counter'; did you mean 'count'?",
    ];
    assert_eq!(faults, expected);
}

#[test]
fn what_must_be_there_is_missed() {
    let few = Numbers::OneOf(vec![8, 16]);
    let model = device(vec![
        ("width", PropertyKind::Number(few.clone(), None)),
        ("wait-ns", PropertyKind::Timing(Numbers::Range(0..=9), None)),
    ]);
    let expected = ["property 'width' is missing: the width", "property 'wait-ns' is missing: the wait-ns"];
    assert_eq!(read(&model, Vec::new()).1, expected);
    assert_eq!(
        read(&model, vec![("width", cells(&[9])), ("wait-ns", cells(&[9]))]).1,
        ["width is 9; it may be 8 or 16"]
    );
}

#[test]
fn what_can_t_be_made_is_a_fault_of_its_node() {
    let model = model(Vec::new(), Make::Device(0, Box::new(|_| Err("it has no legs".to_owned()))));
    let (made, faults) = read_tree(&tree(Vec::new()), |reader| model.device(reader).is_some());
    assert_eq!((made, faults), (false, vec!["it has no legs".to_owned()]));
}

#[test]
fn a_chip_that_can_t_be_made_still_has_the_properties_of_its_wire() {
    let spi = Make::SpiChip(1_000_000, Box::new(|_, _| Err("it has no legs".to_owned())));
    let model = model(Vec::new(), spi);
    let properties = vec![("reg", cells(&[0])), ("spi-max-frequency", cells(&[1000]))];
    let (_, faults) = read_tree(&tree(properties), |reader| model.spi_chip(reader).interrupt());
    assert_eq!(faults, ["it has no legs"]);
}
