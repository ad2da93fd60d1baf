//! The program's ELF file, for a client that was started without it: the client asks for its name, and reads it here.
//! There is no other file, and nothing is written.

use gdbstub::common::Pid;
use gdbstub::target::ext::exec_file::ExecFile;
use gdbstub::target::ext::host_io::{
    HostIo, HostIoClose, HostIoCloseOps, HostIoErrno, HostIoError, HostIoFstat, HostIoFstatOps, HostIoOpen,
    HostIoOpenFlags, HostIoOpenMode, HostIoOpenOps, HostIoPread, HostIoPreadOps, HostIoResult, HostIoStat,
};
use gdbstub::target::{TargetError, TargetResult};
use machine::Machine;

use crate::target::Held;

/// The name of the file here.
const NAME: &[u8] = b"/program.elf";
/// The descriptor of the only file.
const DESCRIPTOR: u32 = 3;
const ELF: &[u8] = b"\x7fELF";

/// The program of the core that it was loaded for, if it is an ELF file.
fn program(machine: &Machine) -> Option<&[u8]> {
    machine.program_file(machine.main_core()).filter(|file| file.starts_with(ELF))
}

/// Copies from a file, up to its end, and returns the number of bytes.
fn copy(file: &[u8], offset: u64, most: usize, into: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok().and_then(|offset| file.get(offset..)).unwrap_or_default();
    let count = rest.len().min(most).min(into.len());
    into[..count].copy_from_slice(&rest[..count]);
    count
}

impl ExecFile for Held<'_> {
    fn get_exec_file(
        &self,
        _pid: Option<Pid>,
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        match program(self.machine) {
            Some(_) => Ok(copy(NAME, offset, length, buf)),
            None => Err(TargetError::NonFatal),
        }
    }
}

impl HostIo for Held<'_> {
    fn support_open(&mut self) -> Option<HostIoOpenOps<'_, Self>> {
        Some(self)
    }

    fn support_close(&mut self) -> Option<HostIoCloseOps<'_, Self>> {
        Some(self)
    }

    fn support_pread(&mut self) -> Option<HostIoPreadOps<'_, Self>> {
        Some(self)
    }

    fn support_fstat(&mut self) -> Option<HostIoFstatOps<'_, Self>> {
        Some(self)
    }
}

impl HostIoOpen for Held<'_> {
    fn open(&mut self, filename: &[u8], flags: HostIoOpenFlags, _mode: HostIoOpenMode) -> HostIoResult<u32, Self> {
        if filename != NAME || program(self.machine).is_none() {
            return Err(HostIoError::Errno(HostIoErrno::ENOENT));
        }
        match flags == HostIoOpenFlags::O_RDONLY {
            true => Ok(DESCRIPTOR),
            false => Err(HostIoError::Errno(HostIoErrno::EACCES)),
        }
    }
}

/// The file of a descriptor.
fn open_file<'a>(held: &'a Held, fd: u32) -> HostIoResult<&'a [u8], Held<'a>> {
    let file = program(held.machine).filter(|_| fd == DESCRIPTOR);
    file.ok_or(HostIoError::Errno(HostIoErrno::EBADF))
}

impl HostIoClose for Held<'_> {
    fn close(&mut self, fd: u32) -> HostIoResult<(), Self> {
        open_file(self, fd).map(|_| ())
    }
}

impl HostIoPread for Held<'_> {
    fn pread(&mut self, fd: u32, count: usize, offset: u64, buf: &mut [u8]) -> HostIoResult<usize, Self> {
        Ok(copy(open_file(self, fd)?, offset, count, buf))
    }
}

impl HostIoFstat for Held<'_> {
    fn fstat(&mut self, fd: u32) -> HostIoResult<HostIoStat, Self> {
        let st_size = open_file(self, fd)?.len() as u64;
        Ok(HostIoStat {
            st_dev: 0,
            st_ino: 0,
            st_mode: HostIoOpenMode::S_IFREG | HostIoOpenMode::S_IRUSR,
            st_nlink: 1,
            st_uid: 0,
            st_gid: 0,
            st_rdev: 0,
            st_size,
            st_blksize: 1,
            st_blocks: st_size,
            st_atime: 0,
            st_mtime: 0,
            st_ctime: 0,
        })
    }
}
