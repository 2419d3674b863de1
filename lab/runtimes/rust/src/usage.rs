// SPDX-License-Identifier: Apache-2.0
//! The processor time and the memory that this process has used so far.

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
}

const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;

/// Returns the user and system time of all threads.
pub fn cpu_seconds() -> f64 {
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: TimeSpec has the layout of the C type on 64-bit Linux, and lives during the call.
    let status = unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "every Linux has this clock");
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

/// Returns the peak of the memory of this process. (The field of getrusage starts at the memory of
/// the parent process.)
pub fn peak_rss_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}
