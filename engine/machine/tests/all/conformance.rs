//! What every core must hold, whatever its instruction set: each property is one test, which runs for each of the cores
//! in `targets`.
//!
//! A [`target::Target`] defines how a core is built and how the steps of small programs ([`program::Step`]) are
//! encoded. Properties of a single instruction set are tested in that set's file next to this folder.

mod calls;
mod code;
mod following;
mod interrupts;
mod kept_calls;
mod midst;
mod order;
mod polling;
mod program;
mod running;
mod target;
mod targets;
mod tiers;
mod windows;
mod written;

pub use code::sweep;
pub use polling::with_and_without_skipping;
pub use running::{HAND_OVERS, ITERATIONS, run_and_compare};
pub use target::{Target, prepared};
pub use targets::{arm, riscv};

/// Each property as a test.
macro_rules! tests {
    ($target:ty; $($subject:ident: $($property:ident)*;)*) => {
        $($(#[test] fn $property() { super::$subject::$property::<$target>(); })*)*
    };
}

/// All properties of some cores, a module each.
macro_rules! properties_of {
    ($($core:ident: $target:ty;)*) => {$(
        mod $core {
            tests! { $target;
                running:
                    stepping_and_running_come_to_the_same
                    running_in_slices_comes_to_the_same
                    snapshots_change_nothing
                    each_instruction_counts_and_takes_its_cycles
                    a_program_that_never_ends_meets_the_limit
                    a_program_ends_with_its_status
                    an_access_to_nothing_says_what_and_where
                    what_is_printed_is_handed_over_at_any_time;
                midst:
                    the_limit_comes_in_the_midst_of_an_access
                    a_snapshot_in_the_midst_of_an_access_changes_nothing
                    a_device_ends_the_run_in_the_midst_of_an_access;
                calls:
                    calls_return_to_after_themselves
                    a_watched_function_has_a_stack_of_its_own
                    each_call_has_a_window;
                kept_calls:
                    each_call_has_what_it_took_and_waited_for
                    a_long_call_waits_for_the_device;
                following:
                    whatever_counts_calls_counts_the_same;
                windows:
                    each_window_has_what_was_waited_for;
                code:
                    code_that_is_written_runs_as_written
                    a_store_to_the_next_instructions_takes_effect
                    what_was_data_runs_as_code
                    cold_code_takes_the_time_that_it_takes_in_steps;
                written:
                    programs_that_write_their_code_come_to_the_same_in_steps;
                interrupts:
                    an_interrupt_is_taken_at_the_first_instruction_after_its_time
                    a_core_waits_for_its_interrupt
                    a_wait_for_nothing_is_explained
                    a_system_call_comes_back
                    an_undefined_instruction_is_handled;
                polling:
                    a_wait_for_an_event_is_skipped
                    an_exchange_of_bytes_is_skipped
                    a_wait_with_a_limit_is_skipped
                    a_wait_ends_in_the_iteration_that_reaches_its_limit
                    a_loop_that_does_more_than_count_is_run
                    a_loop_that_writes_beside_its_code_is_skipped
                    a_loop_that_writes_over_its_code_is_run
                    a_watched_loop_keeps_its_stack
                    interrupts_come_at_the_same_instruction
                    skipping_changes_nothing;
            }
        }
    )*};
}

properties_of! {
    cortex_a5: super::arm::CortexA5;
    cortex_a5_thumb: super::arm::CortexA5Thumb;
    cortex_a7: super::arm::CortexA7;
    cortex_m4: super::arm::CortexM4;
    cortex_a5_compiled: super::arm::CortexA5<2>;
    cortex_a5_thumb_compiled: super::arm::CortexA5Thumb<2>;
    cortex_a7_compiled: super::arm::CortexA7<2>;
    cortex_m4_compiled: super::arm::CortexM4<2>;
    riscv_interpreted: super::riscv::Pipelined<0>;
    riscv_compiled: super::riscv::Pipelined<2>;
    picorv32: super::riscv::PicoRv32;
    xburst: super::targets::mips::XBurst;
    xburst_compiled: super::targets::mips::XBurst<2>;
}

#[test]
fn compiled_and_interpreted_code_come_to_the_same() {
    running::both_cores_come_to_the_same::<riscv::Pipelined<0>, riscv::Pipelined<2>>();
    running::both_cores_come_to_the_same::<arm::CortexA5, arm::CortexA5<2>>();
    running::both_cores_come_to_the_same::<arm::CortexA5Thumb, arm::CortexA5Thumb<2>>();
    running::both_cores_come_to_the_same::<arm::CortexA7, arm::CortexA7<2>>();
    running::both_cores_come_to_the_same::<arm::CortexM4, arm::CortexM4<2>>();
    running::both_cores_come_to_the_same::<targets::mips::XBurst, targets::mips::XBurst<2>>();
}

/// Properties of compiled code as tests, for cores that have such.
macro_rules! compiled_of {
    ($($core:ident: $target:ty;)*) => {$(
        mod $core {
            tests! { $target;
                tiers:
                    whatever_is_compiled_comes_to_the_same
                    shortcuts_change_nothing
                    what_is_compiled_beside_the_run_changes_nothing
                    slices_end_anywhere_in_blocks_and_change_nothing
                    code_is_compiled_again_when_its_memory_was_full;
            }
        }
    )*};
}

compiled_of! {
    tiers_of_cortex_a5: super::arm::CortexA5;
    tiers_of_cortex_a5_thumb: super::arm::CortexA5Thumb;
    tiers_of_cortex_a7: super::arm::CortexA7;
    tiers_of_cortex_m4: super::arm::CortexM4;
    tiers_of_riscv: super::riscv::Pipelined<0>;
    tiers_of_xburst: super::targets::mips::XBurst;
}

#[test]
fn a_core_that_compiles_nothing_comes_to_the_same_when_asked_to() {
    tiers::whatever_is_compiled_comes_to_the_same::<riscv::PicoRv32>();
}

/// Each property of two cores as a test.
macro_rules! pairs_of {
    ($($core:ident: $target:ty;)*) => {$(
        mod $core {
            tests! { $target;
                order:
                    messages_go_back_and_forth_in_order
                    careless_additions_are_lost_in_the_same_way_each_time
                    accesses_of_both_come_as_if_each_were_alone
                    a_core_that_waits_is_woken_when_its_interrupt_comes
                    a_core_wakes_another_by_a_write
                    a_core_begins_when_it_is_let_out_of_reset
                    polling_is_skipped_while_the_other_core_waits;
                windows:
                    a_window_has_what_another_core_waited_for;
            }
        }
    )*};
}

pairs_of! {
    two_cortex_a5: super::arm::CortexA5;
    two_cortex_a5_thumb: super::arm::CortexA5Thumb;
    two_cortex_a5_compiled: super::arm::CortexA5<2>;
    two_cortex_a5_thumb_compiled: super::arm::CortexA5Thumb<2>;
    two_riscv_interpreted: super::riscv::Pipelined<0>;
    two_riscv_compiled: super::riscv::Pipelined<2>;
    two_xburst: super::targets::mips::XBurst;
    two_xburst_compiled: super::targets::mips::XBurst<2>;
}
