// SPDX-License-Identifier: Apache-2.0
// version: the version of the library, for the preprocessor and for programs.
//
//     #if SENNIT_VERSION >= 200        // 0.2.0 or later
//     std::puts(SENNIT_VERSION_STRING);
//
// Use it to compile against more than one version of Sennit. VERSIONING.md says what a version
// number promises. `tools/check_version.py` holds these figures equal to `project(sennit VERSION
// …)` in CMakeLists.txt.
#pragma once

#define SENNIT_VERSION_MAJOR 0
#define SENNIT_VERSION_MINOR 1
#define SENNIT_VERSION_PATCH 0

// The three parts in one number that can be compared: 10000 × major + 100 × minor + patch.
#define SENNIT_VERSION                                                                             \
    (SENNIT_VERSION_MAJOR * 10000 + SENNIT_VERSION_MINOR * 100 + SENNIT_VERSION_PATCH)
#define SENNIT_VERSION_STRING "0.1.0"
