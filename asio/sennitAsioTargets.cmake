# SPDX-License-Identifier: Apache-2.0
# Defines sennit::asio over standalone Asio, and sennit::boost_asio over Boost.Asio, each where its
# headers are found. The build of sennit and the installed package include this file. Both set
# sennit_asio_include, the folder of the headers, and sennit_asio_wanted, the targets to look for.
if("asio" IN_LIST sennit_asio_wanted AND NOT TARGET sennit::asio)
    find_path(SENNIT_ASIO_INCLUDE_DIR asio/cancellation_signal.hpp
        DOC "The folder of standalone Asio 1.22 or later (Debian: libasio-dev)")
    if(SENNIT_ASIO_INCLUDE_DIR)
        add_library(sennit::asio INTERFACE IMPORTED GLOBAL)
        target_link_libraries(sennit::asio INTERFACE sennit::sennit)
        target_include_directories(sennit::asio INTERFACE
            "${sennit_asio_include}" "${SENNIT_ASIO_INCLUDE_DIR}")
    endif()
endif()
if("boost_asio" IN_LIST sennit_asio_wanted AND NOT TARGET sennit::boost_asio)
    # From 1.74 on sync_stream works, and everything from 1.79 on.
    find_package(Boost 1.74 QUIET)
    if(Boost_FOUND)
        add_library(sennit::boost_asio INTERFACE IMPORTED GLOBAL)
        target_link_libraries(sennit::boost_asio INTERFACE sennit::sennit)
        target_include_directories(sennit::boost_asio INTERFACE
            "${sennit_asio_include}" "${Boost_INCLUDE_DIRS}")
        target_compile_definitions(sennit::boost_asio INTERFACE SENNIT_ASIO_BOOST=1)
        set_target_properties(sennit::boost_asio PROPERTIES BOOST_VERSION "${Boost_VERSION}")
    endif()
endif()
