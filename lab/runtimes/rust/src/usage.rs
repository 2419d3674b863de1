// SPDX-License-Identifier: Apache-2.0
//! What this process has used so far.

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
}

const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;

/// User and system time of all threads.
pub fn cpu_seconds() -> f64 {
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: TimeSpec is laid out as the C type is on 64-bit Linux, and lives through the call.
    let status = unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "this clock is there on every Linux");
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

/// The most memory held at once. (The field of getrusage starts at what the parent process held.)
pub fn peak_rss_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}
