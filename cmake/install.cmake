# Headers, libraries, the program, and what find_package(cornea) needs.
include(CMakePackageConfigHelpers)

get_property(stages GLOBAL PROPERTY CORNEA_STAGES)
add_library(cornea INTERFACE)
add_library(cornea::cornea ALIAS cornea)
target_link_libraries(cornea INTERFACE ${stages})

install(TARGETS cornea ${stages} EXPORT cornea-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(CORNEA_HAS_CLI)
  install(TARGETS cornea_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# What a header is for users: all but the insides of rooms, the program and test helpers.
install(
  DIRECTORY src/cornea
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "testing.h" EXCLUDE
  PATTERN "file_testing.h" EXCLUDE
  PATTERN "context_state.h" EXCLUDE
  PATTERN "cuda.h" EXCLUDE
  PATTERN "cuda_events.h" EXCLUDE
  PATTERN "decoded.h" EXCLUDE
  PATTERN "convert.h" EXCLUDE
  PATTERN "loaded_file.h" EXCLUDE
  PATTERN "upright.h" EXCLUDE
  PATTERN "page_files.h" EXCLUDE
  PATTERN "preview.h" EXCLUDE
  PATTERN "header_reader.h" EXCLUDE
  PATTERN "strongest.h" EXCLUDE
  PATTERN "strip_walk.h" EXCLUDE
  PATTERN "radix_select.h" EXCLUDE
  PATTERN "noise.h" EXCLUDE
  PATTERN "glyphs.h" EXCLUDE
  PATTERN "device_match.h" EXCLUDE
  PATTERN "tensor_core.h" EXCLUDE
  PATTERN "tile_kernel.h" EXCLUDE
  PATTERN "tile_walk.h" EXCLUDE
  PATTERN "layout.h" EXCLUDE
  PATTERN "statement.h" EXCLUDE
  PATTERN "in_order.h" EXCLUDE
  PATTERN "cli" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/generated/cornea/core/build.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cornea/core)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cornea)
install(EXPORT cornea-targets NAMESPACE cornea:: DESTINATION ${config_folder})
configure_package_config_file(cmake/cornea-config.cmake.in cornea-config.cmake
                              INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(cornea-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cornea-config.cmake
              ${PROJECT_BINARY_DIR}/cornea-config-version.cmake DESTINATION ${config_folder})
