# SPDX-License-Identifier: Apache-2.0
# Installs the public headers, the library, the program, and the files for find_package(cornea) and
# pkg-config. The installed tree is relocatable: its files find each other, and other libraries by
# name.
#
# Two install components, from which cmake/package.cmake makes Debian packages: `program` (the program, its
# manual pages, completion and documents) and `development` (library, headers, package files, examples).
# `cmake --install` without --component installs both.
include(CMakePackageConfigHelpers)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cornea)
install(
  TARGETS cornea
  EXPORT cornea-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT cornea-targets NAMESPACE cornea:: DESTINATION ${config_folder} COMPONENT development)
get_property(components GLOBAL PROPERTY CORNEA_COMPONENTS)
foreach(component IN LISTS components)
  install(TARGETS cornea_${component} EXPORT cornea-${component}-targets
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(EXPORT cornea-${component}-targets NAMESPACE cornea:: DESTINATION ${config_folder}
          COMPONENT development)
endforeach()
if(CORNEA_HAS_CLI)
  install(TARGETS cornea_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # Manual pages and shell completion, which the program itself generates.
  if(NOT CMAKE_CROSSCOMPILING AND NOT CORNEA_SANITIZE)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}
            COMPONENT program)
  endif()
endif()
# The header of a missing component says why it is missing.
foreach(component scene colmap)
  if(NOT component IN_LIST components)
    install(FILES ${PROJECT_SOURCE_DIR}/src/cornea/${component}.h
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cornea COMPONENT development)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
        FILES_MATCHING PATTERN "*.md" PATTERN "images/*" PATTERN "site" EXCLUDE PATTERN "figures" EXCLUDE
        PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT development
        PATTERN "__pycache__" EXCLUDE)

set(CORNEA_COMPONENTS "${components}")
configure_package_config_file(cmake/cornea-config.cmake.in cornea-config.cmake
                              INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(cornea-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cornea-config.cmake
              ${PROJECT_BINARY_DIR}/cornea-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/find_webp.cmake DESTINATION ${config_folder}
        COMPONENT development)

# pkg-config: the dependencies of the static library; a shared library is already linked with them.
set(CORNEA_PC_REQUIRES "")
set(CORNEA_PC_LIBS "")
if(NOT BUILD_SHARED_LIBS)
  set(CORNEA_PC_REQUIRES "libpng libjpeg")
  set(CORNEA_PC_LIBS "-lstdc++ -lpthread")
  if(CORNEA_HAS_TIFF)
    string(APPEND CORNEA_PC_REQUIRES " libtiff-4")
  endif()
  if(CORNEA_HAS_WEBP)
    string(APPEND CORNEA_PC_REQUIRES " libwebp")
  endif()
  if(CORNEA_HAS_SQLITE)
    string(APPEND CORNEA_PC_REQUIRES " sqlite3")
  endif()
  if(CORNEA_HAS_CUDA)
    string(APPEND CORNEA_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
  endif()
endif()
file(RELATIVE_PATH CORNEA_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/cornea.pc.in cornea.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cornea.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
