# Without OpenSSL the client has no workload of the family `tls`.
find_package(OpenSSL 3.0 QUIET)
if(OpenSSL_FOUND)
    set(lab_links OpenSSL::SSL)
    set(lab_definitions LAB_OPENSSL)
endif()
