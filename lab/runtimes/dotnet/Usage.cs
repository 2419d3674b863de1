// SPDX-License-Identifier: Apache-2.0
using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;

// The processor time and the memory that this process has used so far.
static class Usage {
    // Returns the user and system time of all threads, including threads that have ended.
    public static double CpuSeconds() {
        using (Process self = Process.GetCurrentProcess())
            return self.TotalProcessorTime.TotalSeconds;
    }

    // Returns the peak of the memory of this process, in KiB.
    public static long PeakRss() {
        foreach (string line in File.ReadLines("/proc/self/status")) {
            if (!line.StartsWith("VmHWM:", StringComparison.Ordinal)) continue;
            string number = line.Substring(6).Replace("kB", "").Trim();
            return long.Parse(number, CultureInfo.InvariantCulture);
        }
        throw new InvalidOperationException("/proc/self/status has no VmHWM");
    }
}
