//! Calls that are kept separately, with data from the program: the places that they come from, and their arguments.

use super::Machine;
use engine::core::{Argument, CallReport, CoreReport};
use engine::elf::Machine as InstructionSet;
use engine::elf::parameters::{Form, Parameter, parameters_of};

impl Machine {
    /// Keeps the longest `most` calls of a function ([`engine::core::SectionReport::kept`]), and watches it. False if
    /// there is no such function.
    pub fn keep_calls(&mut self, name: &str, most: usize) -> bool {
        let found = self.find_function(name);
        found.is_some_and(|(core, function, addr)| self.keep_calls_at(&function, core, addr, most))
    }

    /// As [`Machine::keep_calls`], for the function `name` of a core at `addr`.
    pub fn keep_calls_at(&mut self, name: &str, core: usize, addr: u32, most: usize) -> bool {
        self.watch_function(name, core, addr, false);
        self.cores[core].keep_calls(addr, most)
    }

    /// Adds the callers' places and the names of arguments to kept calls.
    pub(super) fn name_calls(&self, reports: &mut [CoreReport]) {
        for (core, report) in reports.iter_mut().enumerate() {
            for section in &mut report.sections {
                let calls = section.kept.as_mut().map(|kept| &mut kept.longest).filter(|calls| !calls.is_empty());
                let Some(calls) = calls else { continue };
                let parameters = self.parameters(core, &section.name);
                for call in calls.iter_mut() {
                    call.arguments = parameters.iter().map(|parameter| argument(parameter, &call.registers)).collect();
                }
                self.name_callers(core, calls);
            }
        }
    }

    fn name_callers(&self, core: usize, calls: &mut [CallReport]) {
        // The call is before the instruction that it returns to.
        let called_at: Vec<u32> = calls.iter().map(|call| call.return_pc.wrapping_sub(1)).collect();
        let places = self.places(self.cores[core].name(), &called_at).unwrap_or_default();
        for (call, place) in calls.iter_mut().zip(places) {
            call.caller = place.into_iter().next();
        }
    }

    /// The parameters of a core's function that are in registers; named after the registers if the program does not
    /// name them.
    fn parameters(&self, core: usize, name: &str) -> Vec<Parameter> {
        // In DWARF's numbers: the argument registers of the ABIs of Arm (r0), MIPS ($4) and RISC-V (x10).
        let set = self.cores[core].machine();
        let (first, prefix) = match set {
            InstructionSet::Arm => (0, 'r'),
            InstructionSet::Mips => (4, 'a'),
            InstructionSet::RiscV => (10, 'a'),
        };
        let symbol = self.find_function(&format!("{}:{name}", self.cores[core].name()));
        let named = symbol.zip(self.program(core)).and_then(|((_, _, addr), program)| {
            let addr = if set == InstructionSet::Arm { addr & !1 } else { addr };
            parameters_of(&program.elf, addr, first, CallReport::REGISTERS)
        });
        let by_register = |register| Parameter { name: format!("{prefix}{register}"), register, form: Form::Address };
        named.unwrap_or_else(|| (0..CallReport::REGISTERS).map(by_register).collect())
    }
}

fn argument(parameter: &Parameter, registers: &[u32; CallReport::REGISTERS]) -> Argument {
    let Parameter { name, register, form } = parameter;
    Argument { name: name.clone(), value: form.value(registers[*register]), is_address: *form == Form::Address }
}
