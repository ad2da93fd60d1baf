use super::super::g4::MAP;
use super::super::h7::{self, BRR, CR1, CR1_RE, CR1_TE, CR1_UE, HWCFGR1, PRESC, TDR};
use super::*;
use crate::registers::walk::Port;

fn usart() -> Bench {
    let params = params_of(ClockInput::fixed(Hz::new(170_000_000).unwrap()), 8);
    Bench::new(Usart::device(&super::super::g4::GENERATION, params))
}

#[test]
fn registers_are_those_of_the_manual() {
    walk::device_keeps_its_map(&MAP, &["USART_CR1"], &mut usart());
    // What identifies the UARTs of an STM32MP1 is not there.
    assert_eq!((usart().get(HWCFGR1), h7::MAP.row(HWCFGR1).is_some()), (0, true));
}

/// A frame of 10 bits: USART_PRESC divides by 4, USART_BRR by 369 (RM0440, 115200 baud from 42.5 MHz).
#[test]
fn a_character_takes_ten_bits() {
    let mut bench = usart();
    for (register, value) in [(PRESC, 2), (BRR, 369), (CR1, CR1_UE | CR1_TE | CR1_RE)] {
        bench.put(register, value);
    }
    let clock = Hz::new(170_000_000).unwrap();
    let bits = |count: u64| clock.ps_at_floor(Cycles(count * 369 * 4));
    bench.run(bits(30));
    bench.write(bits(30), TDR, 'g'.into()).unwrap();
    bench.run(bits(40));
    assert_eq!(bench.streamed(), "");
    bench.run(bits(41));
    assert_eq!(bench.streamed(), "g");
}
