find_package(gflags QUIET) # folly's own targets name gflags' and do not look for it
find_package(folly QUIET)
if(TARGET Folly::folly)
    set(lab_links Folly::folly)
else()
    set(lab_found FALSE)
    set(lab_reason "not found by find_package; folly_ROOT says where it is installed")
endif()
