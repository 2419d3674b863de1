find_package(gflags QUIET) # folly's targets use a target of gflags without looking for it
find_package(folly QUIET)
set(lab_found ${folly_FOUND})
set(lab_reason "not found by find_package; folly_ROOT says where it is installed")
set(lab_links Folly::folly)
