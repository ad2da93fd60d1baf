use super::*;

fn all(waves: &Waves) -> Vec<(u64, u32, bool)> {
    let changes = waves.recorded().unwrap();
    changes.map(Result::unwrap).map(|change| (change.at.0, change.signal, change.level)).collect()
}

fn unnamed_file() -> File {
    let path =
        std::env::temp_dir().join(format!("cyclescope-waves-{}-{:?}", std::process::id(), std::thread::current().id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

#[test]
fn nothing_is_kept_until_someone_asks() {
    let waves = Waves::default();
    let wire = waves.signal("gpd", "irq", true);
    waves.set(wire, Ps(5), false);
    assert!(waves.take().is_empty());
    assert!(!waves.signals()[0].first);
    waves.start();
    waves.set(wire, Ps(20), true);
    waves.set(wire, Ps(10), false);
    waves.set(wire, Ps(5), true);
    assert_eq!(waves.change_count(), 3);
    assert_eq!(all(&waves), [(5, 0, true), (10, 0, false), (20, 0, true)]);
}

#[test]
fn a_level_that_is_there_already_is_no_change() {
    let waves = Waves::default();
    let wire = waves.signal("spi", "mosi", true);
    waves.start();
    for (at, level) in [(1, true), (2, false), (3, false), (3, true), (3, false), (4, true)] {
        waves.set(wire, Ps(at), level);
    }
    assert_eq!(all(&waves), [(2, 0, false), (3, 0, true), (3, 0, false), (4, 0, true)]);
}

#[test]
fn wires_of_the_same_name_get_numbers() {
    let waves = Waves::default();
    for (scope, name) in [("spi", "sck"), ("radio", "sck"), ("spi", "sck"), ("spi", "sck")] {
        waves.signal(scope, name, true);
    }
    let names: Vec<String> = waves.signals().into_iter().map(|signal| signal.name).collect();
    assert_eq!(names, ["sck", "sck", "sck_2", "sck_3"]);
}

#[test]
fn signals_that_nobody_wants_are_left_out() {
    let waves = Waves::default();
    let wires: Vec<SignalId> = ["sck", "mosi", "miso"].map(|name| waves.signal("spi", name, false)).into();
    waves.choose(&[2, 0]);
    waves.start();
    wires.iter().for_each(|wire| waves.set(*wire, Ps(7), true));
    assert_eq!(all(&waves), [(7, 0, true), (7, 2, true)]);
}

#[test]
fn the_unit_is_the_coarsest_that_divides_all_times() {
    let waves = Waves::default();
    let wire = waves.signal("spi", "sck", false);
    waves.start();
    waves.set(wire, Ps(0), true);
    assert_eq!(waves.summary().unit, None);
    for (at, unit) in [(3_000_000, 1_000_000), (20_000, 10_000), (120_000, 10_000), (12_500, 100), (0, 100), (7, 1)] {
        waves.set(wire, Ps(at), true);
        assert_eq!(waves.summary().unit, Some(Ps(unit)), "{at}");
    }
}

#[test]
fn changes_beyond_memory_come_back_in_order() {
    let waves = Waves::default();
    let wires: Vec<SignalId> = (0..4).map(|wire| waves.signal("spi", &format!("io{wire}"), false)).collect();
    waves.start_into(unnamed_file());
    let count = MOST_CHANGES as u64 + 1000;
    let mut levels = [false; 4];
    // One device records ahead and another records late: by more than one run.
    for index in 0..count {
        let wire = (index % 4) as usize;
        levels[wire] = !levels[wire];
        let late = if wire == 3 { 0 } else { 3 * RUN_CHANGES as u64 };
        waves.set(wires[wire], Ps(10 * (index + late)), levels[wire]);
    }
    let (mut found, mut last) = (0, Ps::ZERO);
    for change in waves.recorded().unwrap().map(Result::unwrap) {
        assert!(change.at >= last && (found >= 1000 || change.signal == 3));
        (found, last) = (found + 1, change.at);
    }
    assert_eq!(found, count);
    // The changes can be read again.
    assert_eq!(waves.recorded().unwrap().take(1000).filter(|change| change.is_ok()).count(), 1000);
    let Summary { changes, dropped, unit } = waves.summary();
    assert_eq!((changes, dropped, unit), (count, 0, Some(Ps(10))));
    assert!(waves.take().is_empty());
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_at_the_end() {
    let waves = Waves::default();
    let wire = waves.signal("spi", "sck", false);
    waves.start_into(File::open("/proc/self/exe").unwrap());
    waves.set(wire, Ps(1), true);
    assert!(waves.recorded().is_err());
    waves.set(wire, Ps(2), false);
    assert_eq!(waves.summary().dropped, 1);
    assert!(waves.recorded().is_err());
}
