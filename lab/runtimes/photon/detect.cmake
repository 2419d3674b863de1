lab_headers(photon photon/thread/thread.h)
# Prefers the archive, which needs no other library here, since the lab uses only the threads.
# `output` is a folder of a build tree of Photon.
find_library(photon_LIBRARY NAMES libphoton.a photon
    HINTS ${photon_ROOT} $ENV{photon_ROOT} PATH_SUFFIXES lib lib64 output)
if(photon_INCLUDE AND NOT photon_LIBRARY)
    set(lab_found FALSE)
    set(lab_reason "its headers are found, but no libphoton.a or libphoton.so below photon_ROOT")
endif()
set(lab_links ${photon_LIBRARY})
