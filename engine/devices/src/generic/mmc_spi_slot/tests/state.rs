//! What snapshots have of a card.

use proptest::prelude::*;

use super::image::Directory;
use super::*;
use engine::state::{Damaged, Loader, State, saved};

/// A piece of a session, whatever the card makes of it.
#[derive(Clone, Debug)]
enum Piece {
    Command(u8, u32),
    Application(u8, u32),
    Exchange(usize),
    /// A token, and a block.
    Block(u8, u8),
    Garbage(Vec<u8>),
    Wait(u64),
    Deselect,
    Select,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let index =
        prop::sample::select(vec![0u8, 1, 8, 9, 10, 12, 13, 16, 17, 18, 23, 24, 25, 27, 32, 33, 38, 55, 58, 59]);
    let argument = prop_oneof![0u32..4096, Just(512), Just(0x1aa), any::<u32>()];
    let application = prop::sample::select(vec![13u8, 22, 23, 41, 42, 51]);
    let piece = prop_oneof![
        8 => (index, argument).prop_map(|(index, argument)| Piece::Command(index, argument)),
        2 => (application, 0u32..8).prop_map(|(index, argument)| Piece::Application(index, argument << 28 | argument)),
        6 => (1usize..600).prop_map(Piece::Exchange),
        4 => (prop::sample::select(vec![0xfeu8, 0xfc, 0xfd]), any::<u8>()).prop_map(|(t, b)| Piece::Block(t, b)),
        1 => prop::collection::vec(any::<u8>(), 1..20).prop_map(Piece::Garbage),
        3 => (0u64..5_000).prop_map(Piece::Wait),
        1 => Just(Piece::Deselect),
        2 => Just(Piece::Select),
    ];
    prop::collection::vec(piece, 1..30)
}

/// The card's output in that time.
fn play(bench: &mut Bench, piece: &Piece) -> Vec<u8> {
    let bytes = match piece {
        Piece::Command(index, argument) => command_frame(*index, *argument).to_vec(),
        Piece::Application(index, argument) => {
            [command_frame(55, 0).to_vec(), vec![0xff; 4], command_frame(*index, *argument).to_vec()].concat()
        }
        Piece::Exchange(count) => vec![0xff; *count],
        Piece::Block(token, byte) => [vec![*token], vec![*byte; 514], vec![0xff; 3]].concat(),
        Piece::Garbage(bytes) => bytes.clone(),
        Piece::Wait(us) => {
            bench.now += Ps::from_us(*us);
            return Vec::new();
        }
        Piece::Deselect => {
            bench.deselect();
            return Vec::new();
        }
        Piece::Select => {
            bench.select();
            return Vec::new();
        }
    };
    bytes.iter().map(|byte| bench.exchange(*byte)).collect()
}

/// A card before power-up that gets the state of another.
fn loaded(from: &Bench, changes: Changes) -> Bench {
    let bytes = saved(&from.card);
    let mut new = Bench { now: from.now, ..Bench::cold(changes) };
    let mut loader = Loader::new(&bytes);
    assert_eq!((new.card.load(&mut loader), loader.is_over()), (Ok(()), true));
    assert_eq!(saved(&new.card), bytes);
    new
}

proptest! {
    #[test]
    fn a_session_goes_on_after_a_load(before in pieces(), after in pieces(), extra in 0usize..20) {
        let mut bench = Bench::new();
        bench.send(&vec![0xff; extra]);
        before.iter().for_each(|piece| drop(play(&mut bench, piece)));
        let mut other = loaded(&bench, &[]);
        for piece in &after {
            prop_assert_eq!(play(&mut bench, piece), play(&mut other, piece));
        }
        prop_assert_eq!(saved(&bench.card), saved(&other.card));
        prop_assert_eq!(bench.card.counters(), other.card.counters());
    }
}

#[test]
fn a_snapshot_has_what_was_written_and_no_more() {
    let mut bench = Bench::new();
    let idle = saved(&bench.card).len();
    assert!(idle < 4096, "{idle} bytes of a card of {CAPACITY_BYTES}");
    bench.write(1000, &pattern(7));
    let bytes = saved(&bench.card).len();
    assert!((4096..8192).contains(&bytes), "{bytes} bytes with a block written");
    assert_eq!(loaded(&bench, &[]).read(1000), pattern(7));
}

#[test]
fn an_image_stays_as_it_was_at_the_first_snapshot_until_the_run_ends() {
    let directory = Directory::new("snapshot");
    let image = directory.image(16 << 20);
    let mut bench = Bench::with(&[directory.property()]);
    bench.write(3, &pattern(1));
    let first = saved(&bench.card);
    let then = std::fs::read(&image).unwrap();
    assert_eq!(then[3 * 512..4 * 512], pattern(1));
    bench.write(3, &pattern(2));
    bench.write(4, &pattern(3));
    let second = saved(&bench.card);
    assert!(second.len() < first.len() + 8192);
    assert!(std::fs::read(&image).unwrap() == then, "it is not written any more");
    assert_eq!([bench.read(3), bench.read(4)], [pattern(2), pattern(3)]);
    // Back, and on again.
    assert_eq!(bench.card.load(&mut Loader::new(&first)), Ok(()));
    assert_eq!([bench.read(3), bench.read(4)], [pattern(1), [0; 512]]);
    assert_eq!(bench.card.load(&mut Loader::new(&second)), Ok(()));
    assert_eq!([bench.read(3), bench.read(4)], [pattern(2), pattern(3)]);
    assert!(std::fs::read(&image).unwrap() == then, "a load does not write it either");
    // A new card has what the file had then, and what was written since.
    let mut other = loaded(&bench, &[directory.property()]);
    assert_eq!([other.read(3), other.read(4)], [pattern(2), pattern(3)]);
    bench.card.finish(bench.now).unwrap();
    assert_eq!(std::fs::read(&image).unwrap()[3 * 512..5 * 512], [pattern(2), pattern(3)].concat());
    // The end of the run is no end of time travel.
    assert_eq!(bench.card.load(&mut Loader::new(&first)), Ok(()));
    assert_eq!([bench.read(3), bench.read(4)], [pattern(1), [0; 512]]);
}

#[test]
fn an_image_that_was_written_by_others_is_refused() {
    let directory = Directory::new("foreign");
    let image = directory.image(16 << 20);
    let bench = Bench::with(&[directory.property()]);
    let bytes = saved(&bench.card);
    std::fs::File::options().write(true).open(&image).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let mut other = Bench::cold(&[directory.property()]);
    let mut loader = Loader::new(&bytes);
    assert_eq!(other.card.load(&mut loader), Err(Damaged));
    assert!(loader.refusal().unwrap().starts_with("the image has been written since the snapshot"));
}
