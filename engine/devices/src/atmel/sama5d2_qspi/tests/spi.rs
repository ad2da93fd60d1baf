//! SPI mode.

use super::*;

const LLB: u32 = 1 << 1;
const WDRBT: u32 = 1 << 2;
const LASTXFER: u32 = 1 << 4;
const SYSTEMATICALLY: u32 = 2 << 4;

fn spi(mode: u32) -> Rig {
    let mut rig = Rig::new();
    rig.put(SCR, THIRD);
    rig.put(MR, mode);
    rig.put(CR, CR_QSPIEN);
    rig
}

/// Sends words one by one, and gives what comes back.
fn exchange(rig: &mut Rig, words: &[u32]) -> Vec<u32> {
    let mut received = Vec::new();
    for word in words {
        rig.until(SR_TDRE);
        rig.put(TDR, *word);
        rig.until(SR_RDRF);
        received.push(rig.get(RDR));
    }
    received
}

#[test]
fn words_pass_both_ways() {
    let mut rig = spi(LASTXFER);
    assert_eq!(exchange(&mut rig, &[0x9f, 0, 0, 0]), [0xff, 0x20, 0xba, 0x18]);
    rig.put(CR, CR_LASTXFER);
    assert_eq!(rig.get(SR) & (SR_CSR | SR_CSS | SR_INSTRE), SR_CSR | SR_CSS);
    assert_eq!((rig.counter("frames"), rig.counter("sck_clocks")), (1, 32));
    let mut wide = spi(LASTXFER | 8 << 8);
    assert_eq!(exchange(&mut wide, &[0x9f00, 0]), [0xff20, 0xba18]);
}

#[test]
fn waveforms_show_the_clocks_of_an_odd_divider() {
    let mut rig = Rig::new();
    rig.bench.record();
    rig.put(SCR, THIRD);
    rig.put(MR, LASTXFER);
    rig.put(CR, CR_QSPIEN);
    exchange(&mut rig, &[0x9f, 0]);
    let (sck, cs) = (rig.bench.recorded("sck"), rig.bench.recorded("cs0"));
    assert_eq!((sck.len(), cs.len()), (32, 1));
    // Three cycles of 166 MHz a clock: it rises between two of their edges.
    let begin = clock().cycles_until_ceil(sck[1].0).0 - PERIOD;
    for (number, (at, level)) in sck.iter().take(16).enumerate() {
        let halves = 2 * u128::from(begin) + u128::from(PERIOD) * (number as u128 + 1);
        assert_eq!((u128::from(at.0), *level), (halves * 1_000_000_000_000 / 332_000_000, number % 2 == 0));
    }
    // 9fh on IO0; 20h, the maker, comes on IO1.
    let bit = |number: u64| clock().ps_at_floor(Cycles(begin + PERIOD * number));
    let io0 = [(1, false), (3, true)].map(|(number, level)| (bit(number), level));
    assert_eq!(rig.bench.recorded("io0")[..2], io0);
    assert_eq!(rig.bench.recorded("io2"), []);
    let second = clock().cycles_until_ceil(sck[17].0).0 - PERIOD;
    let answer = [(0, false), (2, true), (3, false)];
    let io1 = answer.map(|(number, level)| (clock().ps_at_floor(Cycles(second + PERIOD * number)), level));
    assert_eq!(rig.bench.recorded("io1"), io1);
}

#[test]
fn chip_select_goes_inactive_as_its_mode_says() {
    // Not reloaded in time: each byte is a frame of its own.
    let mut rig = spi(0);
    assert_eq!(exchange(&mut rig, &[0x9f, 0]), [0xff, 0xff]);
    assert_eq!(rig.counter("frames"), 2);
    // The second byte waits in the register when the first one ends.
    let mut rig = spi(0);
    rig.put(TDR, 0x9f);
    rig.until(SR_TDRE);
    rig.put(TDR, 0);
    rig.until(SR_TXEMPTY);
    assert_eq!((rig.get(RDR), rig.counter("frames")), (0x20, 1));
    assert_ne!(rig.get(SR) & SR_CSS, 0);
    let mut rig = spi(SYSTEMATICALLY);
    rig.put(TDR, 0x9f);
    rig.until(SR_TDRE);
    rig.put(TDR, 0);
    rig.until(SR_TXEMPTY);
    assert_eq!((rig.get(RDR), rig.counter("frames")), (0xff, 2));
    // LASTXFER with a word waiting: after that word.
    let mut rig = spi(LASTXFER);
    rig.put(TDR, 0x9f);
    rig.until(SR_TDRE);
    rig.put(TDR, 0);
    rig.put(CR, CR_LASTXFER);
    rig.until(SR_CSR);
    assert_eq!((rig.get(RDR), rig.counter("frames")), (0x20, 1));
}

#[test]
fn words_take_their_clocks_and_delays() {
    // From the write to RDRF, in clocks; reads of QSPI_SR are four apart.
    let until_received = |mode: u32, words: u32| {
        let mut rig = spi(mode);
        rig.cycles(|rig| {
            for _ in 0..words {
                rig.until(SR_TDRE);
                rig.put(TDR, 0);
            }
            rig.until(SR_TXEMPTY);
        })
    };
    let (one, two) = (until_received(LASTXFER, 1), until_received(LASTXFER, 2));
    assert!((8 * PERIOD..8 * PERIOD + 16).contains(&one), "{one}");
    assert!((8 * PERIOD - 4..8 * PERIOD + 5).contains(&(two - one)), "{one} {two}");
    // DLYBCT of 3: 96 clocks between two words.
    let delayed = until_received(LASTXFER | 3 << 16, 2);
    assert!((96 - 4..=96 + 4).contains(&(delayed - two)), "{two} {delayed}");
    // DLYCS of 100 between two frames.
    let apart = until_received(SYSTEMATICALLY | 100 << 24, 2);
    assert!((100 - 4..=100 + 4).contains(&(apart - two)), "{two} {apart}");
}

#[test]
fn an_unread_word_is_overrun_or_waited_for() {
    let mut rig = spi(LASTXFER | LLB);
    rig.put(TDR, 0x11);
    rig.until(SR_TDRE);
    rig.put(TDR, 0x22);
    assert_ne!(rig.until(SR_TXEMPTY) & SR_OVRES, 0);
    assert_eq!((rig.get(RDR), rig.get(SR) & (SR_OVRES | SR_RDRF)), (0x22, 0));
    let mut rig = spi(LASTXFER | LLB | WDRBT);
    rig.put(TDR, 0x11);
    rig.until(SR_RDRF);
    rig.put(TDR, 0x22);
    rig.now += Ps::from_us(10);
    assert_eq!(rig.get(SR) & (SR_TDRE | SR_RDRF | SR_OVRES), SR_RDRF);
    assert_eq!(rig.get(RDR), 0x11);
    rig.until(SR_RDRF);
    assert_eq!(rig.get(RDR), 0x22);
}

#[test]
fn words_interrupt() {
    let mut rig = spi(LASTXFER | LLB);
    rig.put(IER, SR_RDRF);
    rig.put(TDR, 0x5a);
    assert_eq!(rig.bench.pending(), 0);
    rig.now += Ps::from_us(1);
    rig.bench.run(rig.now);
    assert_eq!(rig.bench.pending(), 1 << 4);
    assert_eq!((rig.get(RDR), rig.bench.pending()), (0x5a, 0));
    rig.put(IDR, SR_RDRF);
    assert_eq!(rig.get(IMR), 0);
}

#[test]
fn clock_modes_0_and_3_read_and_the_others_do_not() {
    for (serial, reads) in [(0, true), (3, true), (1, false), (2, false)] {
        let mut rig = Rig::new();
        rig.put(SCR, THIRD | serial);
        rig.put(MR, LASTXFER);
        rig.put(CR, CR_QSPIEN);
        let id = exchange(&mut rig, &[0x9f, 0, 0, 0]);
        assert_eq!(id[1..] == [0x20, 0xba, 0x18], reads, "{serial}: {id:x?}");
        assert_eq!(rig.notes().contains("CPOL and CPHA differ"), !reads);
    }
}
