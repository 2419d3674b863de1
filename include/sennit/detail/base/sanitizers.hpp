// SPDX-License-Identifier: Apache-2.0
// SENNIT_ADDRESS_SANITIZER, SENNIT_THREAD_SANITIZER: defined in a build with that sanitizer. g++
// and clang report the sanitizers in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SENNIT_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__)
#define SENNIT_THREAD_SANITIZER 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SENNIT_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define SENNIT_THREAD_SANITIZER 1
#endif
#endif
