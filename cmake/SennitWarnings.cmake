# SPDX-License-Identifier: Apache-2.0
set(SENNIT_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor)

# sennit_warnings(<target>): applies the project's warnings to this target, and never to targets
# that link it.
function(sennit_warnings target)
    target_compile_options(${target} PRIVATE
        ${SENNIT_WARNINGS}
        # Files that are compiled together see each other's private names. debug-* and
        # tools/check_headers.py compile them alone.
        $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-shadow>
        $<$<BOOL:${SENNIT_WERROR}>:-Werror>)
endfunction()
