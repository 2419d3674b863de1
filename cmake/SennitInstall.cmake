# SPDX-License-Identifier: Apache-2.0
# The rules of `cmake --install`: the library, its headers, the package files for find_package and
# for pkg-config, the script for gdb, and the licence.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(sennit_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sennit")

install(TARGETS sennit EXPORT sennitTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT sennitTargets NAMESPACE sennit:: DESTINATION "${sennit_package_dir}")

configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/sennitConfig.cmake.in" "${PROJECT_BINARY_DIR}/sennitConfig.cmake"
    INSTALL_DESTINATION "${sennit_package_dir}"
    PATH_VARS CMAKE_INSTALL_DATADIR
    NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its users, so 0.2 does not satisfy a request for 0.1.
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/sennitConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/sennitConfig.cmake" "${PROJECT_BINARY_DIR}/sennitConfigVersion.cmake"
    DESTINATION "${sennit_package_dir}")

# Paths in sennit.pc are relative to the file itself, so that an installed tree can be moved.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR sennit_libdir_is_absolute)
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_INCLUDEDIR sennit_includedir_is_absolute)
if(sennit_libdir_is_absolute OR sennit_includedir_is_absolute)
    set(sennit_pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(sennit_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(sennit_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
    string(REGEX REPLACE "[^/]+" ".." sennit_pc_up "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    set(sennit_pc_prefix "\${pcfiledir}/${sennit_pc_up}")
    set(sennit_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(sennit_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(sennit_pc_cflags "")
get_target_property(sennit_options sennit INTERFACE_COMPILE_OPTIONS)
get_target_property(sennit_defines sennit INTERFACE_COMPILE_DEFINITIONS)
if(sennit_options)
    list(APPEND sennit_pc_cflags ${sennit_options})
endif()
if(sennit_defines)
    # An installed library does not have these definitions.
    list(FILTER sennit_defines EXCLUDE REGEX "^[$]<BUILD_INTERFACE:")
endif()
if(sennit_defines)
    list(TRANSFORM sennit_defines PREPEND "-D")
    list(APPEND sennit_pc_cflags ${sennit_defines})
endif()
get_target_property(sennit_pc_ldflags sennit INTERFACE_LINK_OPTIONS)
if(NOT sennit_pc_ldflags)
    set(sennit_pc_ldflags "")
endif()
list(JOIN sennit_pc_cflags " " sennit_pc_cflags)
list(JOIN sennit_pc_ldflags " " sennit_pc_ldflags)
configure_file("${CMAKE_CURRENT_LIST_DIR}/sennit.pc.in" "${PROJECT_BINARY_DIR}/sennit.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/sennit.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(TARGET sennit_tls)
    # A program that links an archive also links the libraries that the archive needs.
    set(sennit_pc_requires_openssl "Requires: sennit, openssl >= 3.0")
    if(BUILD_SHARED_LIBS)
        set(sennit_pc_requires_openssl "Requires: sennit")
    endif()
    configure_file("${CMAKE_CURRENT_LIST_DIR}/sennit-tls.pc.in"
        "${PROJECT_BINARY_DIR}/sennit-tls.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/sennit-tls.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/tools/gdb/sennit.py"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/sennit/gdb")
