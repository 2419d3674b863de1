# SPDX-License-Identifier: Apache-2.0
# sennit_warnings(<target>): the project's warnings, for this target alone and never for those who link it.
function(sennit_warnings target)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
        $<$<BOOL:${SENNIT_WERROR}>:-Werror>)
endfunction()
