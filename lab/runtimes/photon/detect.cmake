lab_headers(photon photon/thread/thread.h)
# The archive, where it is there: it needs nothing else, since only the threads are used. `output` is that of a build folder.
find_library(photon_LIBRARY NAMES libphoton.a photon HINTS ${photon_ROOT} $ENV{photon_ROOT} PATH_SUFFIXES lib lib64 output)
if(photon_INCLUDE AND NOT photon_LIBRARY)
    set(lab_found FALSE)
    set(lab_reason "its headers are there, but below photon_ROOT is no libphoton.a or libphoton.so")
endif()
set(lab_links ${photon_LIBRARY})
