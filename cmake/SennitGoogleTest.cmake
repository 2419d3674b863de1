# SPDX-License-Identifier: Apache-2.0
# Provides GTest::gtest and GTest::gtest_main from an installed package, if there is one. For
# sanitizers and for another processor, they are built from the sources of Debian's libgtest-dev,
# with the flags of the tests.
set(SENNIT_GTEST_SOURCE /usr/src/googletest CACHE PATH
    "Source of GoogleTest, for builds that cannot use its package")

if(SENNIT_SANITIZE STREQUAL "none" AND NOT CMAKE_CROSSCOMPILING)
    find_package(GTest QUIET)
    if(GTest_FOUND)
        return()
    endif()
endif()
if(NOT EXISTS "${SENNIT_GTEST_SOURCE}/CMakeLists.txt")
    find_package(GTest REQUIRED)
    return()
endif()

set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
add_subdirectory(
    "${SENNIT_GTEST_SOURCE}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
foreach(library IN ITEMS gtest gtest_main)
    sennit_sanitizers(${library})
    # These flags compile in a third of the time, and no test waits for GoogleTest.
    target_compile_options(${library} PRIVATE -O0 -g0)
    if(NOT TARGET GTest::${library})
        add_library(GTest::${library} ALIAS ${library})
    endif()
endforeach()
