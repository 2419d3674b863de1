// SPDX-License-Identifier: Apache-2.0
using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;

// What this process used so far.
static class Usage {
    // User and system time of all threads, those that ended included.
    public static double CpuSeconds() {
        using (Process self = Process.GetCurrentProcess()) return self.TotalProcessorTime.TotalSeconds;
    }

    // The most memory held at once, in KiB.
    public static long PeakRss() {
        foreach (string line in File.ReadLines("/proc/self/status")) {
            if (!line.StartsWith("VmHWM:", StringComparison.Ordinal)) continue;
            string number = line.Substring(6).Replace("kB", "").Trim();
            return long.Parse(number, CultureInfo.InvariantCulture);
        }
        throw new InvalidOperationException("/proc/self/status has no VmHWM");
    }
}
