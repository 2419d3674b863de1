include(${CMAKE_CURRENT_LIST_DIR}/../folly-coro/detect.cmake)
