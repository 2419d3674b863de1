# SPDX-License-Identifier: Apache-2.0
# Defines sennit::execution, the headers for std::execution, and sennit::parallel_scheduler, an
# object library that replaces the backend of std::execution::parallel_scheduler. The build of
# sennit and the installed package include this file. Both set sennit_execution_include and
# sennit_execution_source, the folders of the headers and of the backend.
#
# The implementation of std::execution is the target that SENNIT_EXECUTION_IMPLEMENTATION names.
# Without that variable it is STDEXEC::stdexec, if CMake finds the package stdexec. Otherwise the
# headers use the standard library, or what your compiler flags name:
# sennit/execution/detail/implementation.hpp.
if(NOT TARGET sennit::execution)
    add_library(sennit::execution INTERFACE IMPORTED GLOBAL)
    target_link_libraries(sennit::execution INTERFACE sennit::sennit)
    target_include_directories(sennit::execution INTERFACE "${sennit_execution_include}")
    if(SENNIT_EXECUTION_IMPLEMENTATION)
        target_link_libraries(sennit::execution INTERFACE "${SENNIT_EXECUTION_IMPLEMENTATION}")
    else()
        if(NOT TARGET STDEXEC::stdexec)
            find_package(stdexec CONFIG QUIET)
            set(sennit_imported FALSE)
            if(TARGET STDEXEC::stdexec)
                get_target_property(sennit_imported STDEXEC::stdexec IMPORTED)
            endif()
            if(sennit_imported)
                # sennit::execution is used in all folders, so its implementation must be, too.
                set_target_properties(STDEXEC::stdexec PROPERTIES IMPORTED_GLOBAL TRUE)
            endif()
        endif()
        if(TARGET STDEXEC::stdexec)
            target_link_libraries(sennit::execution INTERFACE STDEXEC::stdexec)
        endif()
    endif()
    # Compiled only where a program links it, by the compiler and with the flags of that program.
    add_library(sennit_parallel_scheduler OBJECT EXCLUDE_FROM_ALL
        "${sennit_execution_source}/parallel_scheduler.cpp")
    target_link_libraries(sennit_parallel_scheduler PUBLIC sennit::execution)
    target_compile_features(sennit_parallel_scheduler PUBLIC cxx_std_20)
    set_target_properties(sennit_parallel_scheduler PROPERTIES UNITY_BUILD OFF)
    add_library(sennit::parallel_scheduler ALIAS sennit_parallel_scheduler)
endif()
