// SPDX-License-Identifier: Apache-2.0
// SENNIT_COROUTINE_TEMPLATES_BEGIN, SENNIT_COROUTINE_TEMPLATES_END: around coroutines that are
// templates in a header.
//
// g++ 12 warns of such a coroutine if a parameter is a lambda of an unnamed namespace: its frame
// has a member of a type without linkage. The frame has no linkage either, so the warning is wrong.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#define SENNIT_COROUTINE_TEMPLATES_BEGIN                                                           \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wsubobject-linkage\"")
#define SENNIT_COROUTINE_TEMPLATES_END _Pragma("GCC diagnostic pop")
#else
#define SENNIT_COROUTINE_TEMPLATES_BEGIN
#define SENNIT_COROUTINE_TEMPLATES_END
#endif
