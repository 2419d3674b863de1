# SPDX-License-Identifier: Apache-2.0
# sennit_sanitizers(<target>): builds the target with SENNIT_SANITIZE. The flags are public, because
# a program in which only a part is instrumented gives false reports.
function(sennit_sanitizers target)
    if(SENNIT_SANITIZE STREQUAL "none")
        return()
    elseif(SENNIT_SANITIZE STREQUAL "address-undefined")
        set(flags -fsanitize=address,undefined)
        # A report of undefined behaviour ends the program. Without this, a test would ignore it.
        target_compile_options(${target} PUBLIC -fno-sanitize-recover=all)
    elseif(SENNIT_SANITIZE STREQUAL "thread")
        set(flags -fsanitize=thread)
    else()
        message(FATAL_ERROR
            "SENNIT_SANITIZE is '${SENNIT_SANITIZE}'; it must be none, address-undefined or thread")
    endif()
    target_compile_options(${target} PUBLIC ${flags} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC ${flags})
endfunction()
