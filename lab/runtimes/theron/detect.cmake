# Theron's makefile leaves the headers in Include and libtheron.a in Lib. A program ends immediately
# if its macros differ from those of the library, so this file reads them from the library, whose
# own check prints them. Tested with 5.01 and 6.00.02.
find_path(THERON_INCLUDE Theron/Theron.h
    HINTS ${theron_ROOT} $ENV{theron_ROOT} PATH_SUFFIXES Include include)
find_library(THERON_LIBRARY theron
    HINTS ${theron_ROOT} $ENV{theron_ROOT} PATH_SUFFIXES Lib lib Build build)

# Sets the result to VERSION.64bit.64bytes.gcc.cpp11.posix and so on, or to nothing.
function(theron_settings result)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/theron)
    file(WRITE ${folder}/settings.cpp "#include <Theron/Detail/Debug/BuildDescriptor.h>\n"
         "int main() { Theron::Detail::BuildDescriptor::Check(); }\n")
    unset(theron_ran CACHE)
    unset(theron_compiled CACHE)
    if(NOT CMAKE_CROSSCOMPILING)
        # No library has this alignment, so the check fails and prints the settings.
        try_run(theron_ran theron_compiled ${folder} ${folder}/settings.cpp
                CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${THERON_INCLUDE}
                COMPILE_DEFINITIONS -DNDEBUG -DTHERON_CACHELINE_ALIGNMENT=1
                LINK_LIBRARIES ${THERON_LIBRARY} RUN_OUTPUT_VARIABLE said)
    endif()
    string(REGEX MATCH "Library: +([^\r\n]*)" line "${said}")
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

set(lab_found FALSE)
set(theron_built "")
if(THERON_INCLUDE AND THERON_LIBRARY)
    theron_settings(theron_built)
endif()
if(NOT THERON_INCLUDE OR NOT THERON_LIBRARY)
    set(lab_reason "not found below theron_ROOT: headers in Include, libtheron.a in Lib")
elseif(NOT theron_built)
    set(lab_reason "${THERON_LIBRARY} does not link, or does not say how it was built")
elseif(theron_built MATCHES "\\.debug")
    set(lab_reason "${THERON_LIBRARY} is a debug build: it needs mode=release")
elseif(NOT theron_built MATCHES "\\.(cpp11|boost)")
    set(lab_reason "${THERON_LIBRARY} has locks instead of atomics: it needs c++11=on or boost=on")
elseif(theron_built MATCHES "\\.(numa|xs)")
    set(lab_reason "${THERON_LIBRARY} has NUMA support, which moves its threads to other \
processors, or XS: it needs neither")
else()
    set(lab_found TRUE)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" lab_version "${theron_built}")
    string(REGEX MATCH "\\.([0-9]+)bytes" line "${theron_built}")
    set(lab_definitions THERON_DEBUG=0 THERON_CACHELINE_ALIGNMENT=${CMAKE_MATCH_1})
    foreach(pair boost=BOOST cpp11=CPP11 posix=POSIX alloc=ENABLE_DEFAULTALLOCATOR_CHECKS
            register=ENABLE_MESSAGE_REGISTRATION_CHECKS unhandled=ENABLE_UNHANDLED_MESSAGE_CHECKS
            build=ENABLE_BUILD_CHECKS)
        string(REGEX MATCH "(.*)=(.*)" line ${pair})
        set(macro THERON_${CMAKE_MATCH_2})
        if(theron_built MATCHES "\\.${CMAKE_MATCH_1}(\\.|$)")
            list(APPEND lab_definitions ${macro}=1)
        else()
            list(APPEND lab_definitions ${macro}=0)
        endif()
    endforeach()
    # Theron ignores the major version of a compiler: it takes one with a minor version below 5 for
    # a compiler of 2008, and includes <atomic> by the name of the draft standard.
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/theron/include/cstdatomic "#include <atomic>\n")
    set(lab_includes ${THERON_INCLUDE} ${CMAKE_CURRENT_BINARY_DIR}/theron/include)
    add_library(lab-theron-library INTERFACE IMPORTED)
    # Theron's makefile has this option, too.
    target_compile_options(lab-theron-library INTERFACE -fno-strict-aliasing)
    target_link_libraries(lab-theron-library INTERFACE ${THERON_LIBRARY})
    set(lab_links lab-theron-library)
    if(theron_built MATCHES "\\.boost")
        find_library(BOOST_THREAD boost_thread)
        list(APPEND lab_includes ${THERON_INCLUDE}/External)
        list(APPEND lab_links ${BOOST_THREAD})
    endif()
endif()
