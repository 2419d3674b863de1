# Finds the installed library, with or without its parts for networks, which its thread pool does
# not need.
lab_headers(libcoro coro/thread_pool.hpp)
find_library(libcoro_LIBRARY NAMES libcoro.a coro
    HINTS ${libcoro_ROOT} $ENV{libcoro_ROOT} PATH_SUFFIXES lib lib64)
if(libcoro_INCLUDE AND NOT libcoro_LIBRARY)
    set(lab_found FALSE)
    set(lab_reason "${libcoro_INCLUDE} has its headers, but no library libcoro is found below \
libcoro_ROOT, where it must be installed")
elseif(libcoro_LIBRARY)
    set(lab_links ${libcoro_LIBRARY})
    get_filename_component(folder ${libcoro_LIBRARY} DIRECTORY)
    if(EXISTS ${folder}/pkgconfig/libcoro.pc)
        file(STRINGS ${folder}/pkgconfig/libcoro.pc lab_version REGEX "^Version: ")
        string(REPLACE "Version: " "" lab_version "${lab_version}")
    endif()
else()
    set(lab_reason "not found below libcoro_ROOT, where it must be installed")
endif()
