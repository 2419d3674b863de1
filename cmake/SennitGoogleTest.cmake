# SPDX-License-Identifier: Apache-2.0
# Provides GTest::gtest and GTest::gtest_main. Built from source where Debian's libgtest-dev puts it: then it has the
# same sanitizers and the same processor as the tests. Elsewhere an installed package will do.
set(SENNIT_GTEST_SOURCE /usr/src/googletest CACHE PATH "Source of GoogleTest; built with the tests when it exists")

if(NOT EXISTS "${SENNIT_GTEST_SOURCE}/CMakeLists.txt")
    find_package(GTest REQUIRED)
    return()
endif()

set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
add_subdirectory("${SENNIT_GTEST_SOURCE}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
foreach(library IN ITEMS gtest gtest_main)
    sennit_sanitizers(${library})
    target_compile_options(${library} PRIVATE -O0 -g0) # a third of the time to compile; no test waits for it
    if(NOT TARGET GTest::${library})
        add_library(GTest::${library} ALIAS ${library})
    endif()
endforeach()
