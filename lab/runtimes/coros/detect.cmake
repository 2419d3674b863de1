lab_headers(coros wait_tasks.h)
if(coros_INCLUDE)
    add_library(lab-coros-library INTERFACE)
    target_compile_features(lab-coros-library INTERFACE cxx_std_23) # std::expected
    set(lab_links lab-coros-library)
else()
    set(lab_reason "not found below coros_ROOT, whose folder include must have its headers")
endif()
