//! A run's report as Python dicts.

use engine::core::{CallReport, CoreReport, SectionReport};
use engine::observe::critical_path::{CriticalPath, HandOver, PathRow, PathStay};
use engine::observe::stack::Share;
use engine::observe::waits::WaitShare;
use machine::unmodelled::UnmodelledRegister;
use machine::{Outcome, RunReport};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::profile::place;

/// Makes the dict that `Machine.run` returns.
pub fn report<'py>(py: Python<'py>, report: &RunReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (outcome, code, message) = match &report.outcome {
        Outcome::Exit(code) => ("exit", Some(*code), None),
        Outcome::Limit(message) => ("limit", None, Some(message.as_str())),
        Outcome::Asleep(message) => ("asleep", None, Some(message.as_str())),
        Outcome::Fault(message) => ("fault", None, Some(message.as_str())),
        Outcome::Script(message) => ("script", None, Some(message.as_str())),
        Outcome::Interrupted => ("interrupted", None, Some("stopped by the user")),
    };
    dict.set_item("outcome", outcome)?;
    dict.set_item("code", code)?;
    dict.set_item("message", message)?;
    dict.set_item("elapsed_ps", report.elapsed.0)?;
    let cores = PyList::empty(py);
    for item in &report.cores {
        cores.append(core(py, item)?)?;
    }
    dict.set_item("cores", cores)?;
    let counters = PyDict::new(py);
    for (name, count) in &report.counters {
        counters.set_item(name, count)?;
    }
    dict.set_item("counters", counters)?;
    let results = PyDict::new(py);
    for (name, words) in &report.results {
        results.set_item(name, words)?;
    }
    dict.set_item("results", results)?;
    dict.set_item("notes", &report.notes)?;
    dict.set_item("failed_saves", &report.failed_saves)?;
    let leds = PyList::empty(py);
    for light in &report.lights {
        let item = PyDict::new(py);
        item.set_item("label", &light.names[0])?;
        item.set_item("pin", &light.pin_name)?;
        item.set_item("is_on", light.is_on)?;
        item.set_item("times_on", light.times_on)?;
        item.set_item("times_off", light.times_off)?;
        item.set_item("on_ps", light.on.0)?;
        item.set_item("last_ps", light.last.map(|at| at.0))?;
        item.set_item("period_ps", light.period.map(|(period, _)| period.0))?;
        item.set_item("on_in_period_ps", light.period.map(|(_, on)| on.0))?;
        leds.append(item)?;
    }
    dict.set_item("leds", leds)?;
    let windows = PyList::empty(py);
    for window in &report.windows {
        let item = PyDict::new(py);
        item.set_item("section", &window.section)?;
        item.set_item("begin_ps", window.begin.0)?;
        item.set_item("end_ps", window.end.0)?;
        let cores = window.cores.iter().map(|found| core(py, found)).collect::<PyResult<Vec<_>>>()?;
        item.set_item("cores", cores)?;
        windows.append(item)?;
    }
    dict.set_item("windows", windows)?;
    let unmodelled = report.unmodelled.iter().map(|register| unmodelled(py, register)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("unmodelled", unmodelled)?;
    dict.set_item("critical_path", report.critical_path.as_ref().map(|path| critical_path(py, path)).transpose()?)?;
    Ok(dict)
}

fn critical_path<'py>(py: Python<'py>, path: &CriticalPath) -> PyResult<Bound<'py, PyDict>> {
    let (rows, hand_overs, stays) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for PathRow { core, what, time } in &path.rows {
        let item = PyDict::new(py);
        item.set_item("core", core)?;
        item.set_item("what", what)?;
        item.set_item("ps", time.0)?;
        rows.append(item)?;
    }
    for HandOver { from, to, device, times, held, longest, longest_from } in &path.hand_overs {
        let item = PyDict::new(py);
        item.set_item("waited_for", from)?;
        item.set_item("held_up", to)?;
        item.set_item("device", device)?;
        item.set_item("times", times)?;
        item.set_item("ps", held.0)?;
        item.set_item("longest_ps", longest.0)?;
        item.set_item("longest_from_ps", longest_from.0)?;
        hand_overs.append(item)?;
    }
    for PathStay { core, begin, end, mostly, mostly_time } in &path.stays {
        let item = PyDict::new(py);
        item.set_item("core", core)?;
        item.set_item("begin_ps", begin.0)?;
        item.set_item("end_ps", end.0)?;
        item.set_item("mostly", mostly)?;
        item.set_item("mostly_ps", mostly_time.0)?;
        stays.append(item)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("rows", rows)?;
    dict.set_item("hand_overs", hand_overs)?;
    dict.set_item("stays", stays)?;
    Ok(dict)
}

fn core<'py>(py: Python<'py>, core: &CoreReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &core.name)?;
    dict.set_item("hz", core.clock.get())?;
    dict.set_item("instructions", core.instructions)?;
    dict.set_item("never_compiled", core.never_compiled)?;
    dict.set_item("cycles", core.cycles.0)?;
    dict.set_item("stack", shares(py, core.stack())?)?;
    let rates = PyList::empty(py);
    for counted in &core.counted {
        let item = PyDict::new(py);
        item.set_item("hz", counted.rate.get())?;
        item.set_item("cycles", counted.causes.iter().map(|(_, cycles)| cycles.0).sum::<u64>())?;
        item.set_item("ps", counted.time().0)?;
        rates.append(item)?;
    }
    dict.set_item("clock_rates", rates)?;
    dict.set_item("waits", core.waits().map(|rows| waits(py, rows)).transpose()?)?;
    let sections = PyList::empty(py);
    for item in &core.sections {
        sections.append(section(py, item)?)?;
    }
    dict.set_item("sections", sections)?;
    Ok(dict)
}

fn section<'py>(py: Python<'py>, section: &SectionReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &section.name)?;
    dict.set_item("calls", section.calls)?;
    dict.set_item("instructions", section.instructions)?;
    dict.set_item("stack", shares(py, section.stack())?)?;
    dict.set_item("waits", section.waits().map(|rows| waits(py, rows)).transpose()?)?;
    let kept = section.kept.as_ref();
    dict.set_item("shortest_ps", kept.and_then(|kept| kept.shortest).map(|time| time.0))?;
    let calls = |calls: &Vec<CallReport>| calls.iter().map(|one| call(py, one)).collect::<PyResult<Vec<_>>>();
    dict.set_item("longest_calls", kept.map(|kept| calls(&kept.longest)).transpose()?)?;
    Ok(dict)
}

fn call<'py>(py: Python<'py>, call: &CallReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("number", call.nth)?;
    dict.set_item("begin_ps", call.begun.0)?;
    dict.set_item("instructions", call.instructions)?;
    let arguments = call.arguments.iter().map(|it| (&it.name, it.value, it.is_address)).collect::<Vec<_>>();
    dict.set_item("arguments", arguments)?;
    dict.set_item("return_address", call.return_pc)?;
    dict.set_item("caller", call.caller.clone().map(place))?;
    dict.set_item("stack", shares(py, call.stack())?)?;
    dict.set_item("waits", call.waits().map(|rows| waits(py, rows)).transpose()?)?;
    Ok(dict)
}

fn unmodelled<'py>(py: Python<'py>, register: &UnmodelledRegister) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("device", &register.device)?;
    dict.set_item("name", &register.name)?;
    dict.set_item("offset", register.offset)?;
    dict.set_item("address", register.addr)?;
    dict.set_item("reads", register.reads)?;
    dict.set_item("writes", register.writes)?;
    dict.set_item("most_reads_in_a_row", register.most_reads_in_a_row)?;
    dict.set_item("first_ps", register.first.0)?;
    dict.set_item("places", &register.places)?;
    Ok(dict)
}

fn shares(py: Python<'_>, stack: Vec<Share>) -> PyResult<Bound<'_, PyList>> {
    let shares = PyList::empty(py);
    for item in stack {
        shares.append(share(py, item)?)?;
    }
    Ok(shares)
}

fn waits(py: Python<'_>, stack: Vec<WaitShare>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    for row in stack {
        let item = share(py, row.share)?;
        item.set_item("kind", row.sort.name())?;
        rows.append(item)?;
    }
    Ok(rows)
}

fn share(py: Python<'_>, share: Share) -> PyResult<Bound<'_, PyDict>> {
    let item = PyDict::new(py);
    item.set_item("cause", share.cause)?;
    item.set_item("cycles", share.cycles.0)?;
    item.set_item("ps", share.time.0)?;
    Ok(item)
}
