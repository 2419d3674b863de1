# SPDX-License-Identifier: Apache-2.0

# Instrumented and emulated programs are slower by about these factors. The time limits of the tests
# grow with them.
if(CMAKE_CROSSCOMPILING OR SENNIT_SANITIZE STREQUAL "thread")
    set(SENNIT_TIMEOUT_FACTOR 4)
elseif(NOT SENNIT_SANITIZE STREQUAL "none" OR SENNIT_SIMULATED_ATOMICS OR SENNIT_STRESS)
    set(SENNIT_TIMEOUT_FACTOR 2)
else()
    set(SENNIT_TIMEOUT_FACTOR 1)
endif()

# sennit_test_program(<name> <source>...): a program linked to sennit with the project's warnings.
# tests/support and src/ are on its include path; src/ is there because unit tests reach below the
# public headers.
function(sennit_test_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE sennit::sennit)
    target_include_directories(${name} PRIVATE
        "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests/support")
    set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
    if(SENNIT_UNITY_TESTS)
        set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    endif()
    if(CMAKE_CROSSCOMPILING)
        target_compile_definitions(${name} PRIVATE SENNIT_EMULATED=1)
    endif()
    target_compile_options(${name} PRIVATE ${SENNIT_TEST_FLAGS})
    sennit_warnings(${name})
endfunction()

# sennit_cacheable_headers(<target>): lets ccache cache a target that uses precompiled headers.
# ccache also needs CCACHE_SLOPPINESS=pch_defines,time_macros, which tests/run sets.
function(sennit_cacheable_headers target)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -fpch-preprocess)
    elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
endfunction()

# sennit_shared_headers(<target> <group> <header>...): precompiles headers once for a group of
# targets, which must all have equal flags. The first target of the group compiles the headers, and
# each later target uses the result.
function(sennit_shared_headers target group)
    get_property(first GLOBAL PROPERTY sennit_shared_headers_${group})
    if(NOT SENNIT_PRECOMPILED_HEADERS)
        return()
    endif()
    sennit_cacheable_headers(${target})
    if(first)
        target_precompile_headers(${target} REUSE_FROM ${first})
    else()
        target_precompile_headers(${target} PRIVATE ${ARGN})
        set_property(GLOBAL PROPERTY sennit_shared_headers_${group} ${target})
    endif()
endfunction()

# sennit_gtest_folder(<name> FOLDER <folder> LABELS <label>... TIMEOUT <seconds>
# [FLAGS <flag>...]): builds all `*_test.cpp` of the folder as one GoogleTest program and one test.
# The flags stand behind SENNIT_TEST_FLAGS. Does nothing while the folder holds no such file.
function(sennit_gtest_folder name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;TIMEOUT" "LABELS;FLAGS")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*_test.cpp")
    if(NOT sources)
        return()
    endif()
    file(GLOB support CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/support/*.cpp")
    sennit_test_program(${name} ${sources} ${support})
    target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
    target_compile_options(${name} PRIVATE ${arg_FLAGS})
    string(MAKE_C_IDENTIFIER "test_programs_${arg_FLAGS}" group)
    sennit_shared_headers(${name} ${group} <gtest/gtest.h> <sennit/sennit.hpp>)
    math(EXPR timeout "${arg_TIMEOUT} * ${SENNIT_TIMEOUT_FACTOR}")
    # qemu-user cannot run itself again, adds a line to the last output of a program, reports
    # MADV_GUARD_INSTALL as done without doing it, and loses its own threads in fork().
    if(CMAKE_CROSSCOMPILING)
        set(filter "--gtest_filter=-*death_test*:stack_guards.*madvise*:fork.*")
    endif()
    add_test(NAME ${name} COMMAND ${name} ${filter})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${timeout})
endfunction()
