use super::*;

fn model(compatible: &str, replaces: bool, make: Make) -> ExternalModel {
    let compatible = compatible.to_owned();
    let (properties, ignored, clocks, interrupts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    ExternalModel { compatible, replaces, properties, ignored, clocks, interrupts, pins: Vec::new(), make }
}

fn device() -> Make {
    Make::Device(1, Box::new(|_| Err(String::new())))
}

fn chip() -> Make {
    Make::SpiChip(1, Box::new(|_, _| Err(String::new())))
}

#[test]
fn a_compatible_has_one_model_unless_it_is_replaced() {
    let mut externals = Externals::default();
    assert_eq!(add(&mut externals, model("acme,part", false, device())), Ok(()));
    let twice = add(&mut externals, model("acme,part", false, device()));
    assert_eq!(twice, Err("there are two models of 'acme,part'".to_owned()));
    for taken in ["altr,timer-1.0", "st,lis3dh-accel", "riscv", "memory", "fixed-clock", "micron,n25q128a"] {
        let refused = add(&mut externals, model(taken, false, device()));
        assert_eq!(refused, Err(format!("'{taken}' has a model already; replace=True takes its place")));
    }
    for (replaced, make) in [("altr,timer-1.0", device()), ("st,lis3dh-accel", chip()), ("micron,n25q128a", chip())] {
        assert_eq!(add(&mut externals, model(replaced, true, make)), Ok(()), "{replaced}");
    }
}

#[test]
fn only_a_model_of_the_same_kind_can_replace_another() {
    let cases = [("altr,timer-1.0", chip()), ("st,lis3dh-accel", device()), ("ingenic,jz4740-gpio", device())];
    for (compatible, make) in cases.into_iter().chain([("riscv", device()), ("fixed-clock", device())]) {
        let refused = add(&mut Externals::default(), model(compatible, true, make)).unwrap_err();
        assert!(refused.starts_with(&format!("the model of '{compatible}' can't be replaced: ")), "{refused}");
    }
}

#[test]
fn the_reference_has_what_any_such_node_says() {
    let names = |make| {
        let declared = declared_by(&model("acme,part", false, make));
        declared.into_iter().map(|declared| declared.name).collect::<Vec<_>>()
    };
    assert_eq!(names(device()), ["reg"]);
    assert_eq!(names(chip()), ["reg", "spi-max-frequency"]);
    assert_eq!(names(Make::I2cChip(Box::new(|_| Err(String::new())))), ["reg"]);
}
