# The lab builds the library from cppcoro's sources, since the library and the headers must use the
# coroutines in the same way. include/ beside this file has the header of the old coroutine
# experiment, which current compilers no longer have.
lab_headers(cppcoro cppcoro/static_thread_pool.hpp)
if(cppcoro_INCLUDE)
    set(cppcoro_sources ${cppcoro_INCLUDE}/../lib)
    if(EXISTS ${cppcoro_sources}/static_thread_pool.cpp)
        add_library(lab-cppcoro-library STATIC EXCLUDE_FROM_ALL
            ${cppcoro_sources}/auto_reset_event.cpp
            ${cppcoro_sources}/lightweight_manual_reset_event.cpp
            ${cppcoro_sources}/spin_mutex.cpp
            ${cppcoro_sources}/spin_wait.cpp
            ${cppcoro_sources}/static_thread_pool.cpp)
        target_include_directories(lab-cppcoro-library SYSTEM PUBLIC
            ${cppcoro_INCLUDE} ${CMAKE_CURRENT_SOURCE_DIR}/runtimes/cppcoro/include)
        # cppcoro assumes symmetric transfer of clang only. Its code for other compilers is slower,
        # and g++ rejects it.
        target_compile_definitions(lab-cppcoro-library
            PUBLIC CPPCORO_COMPILER_SUPPORTS_SYMMETRIC_TRANSFER=1)
        target_compile_features(lab-cppcoro-library PUBLIC cxx_std_20)
        target_compile_options(lab-cppcoro-library PRIVATE ${SENNIT_LAB_FLAGS} -w)
        set(lab_links lab-cppcoro-library)
    else()
        set(lab_found FALSE)
        set(lab_reason "no lib/static_thread_pool.cpp beside ${cppcoro_INCLUDE}: \
cppcoro_ROOT must be its source tree")
    endif()
else()
    set(lab_reason "not found below cppcoro_ROOT, which must be its source tree")
endif()
