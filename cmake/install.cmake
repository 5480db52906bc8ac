# The headers for users, the library, the program, and what find_package(cornea) and pkg-config need.
# The installed tree can be moved: its files find each other, and other libraries by name.
include(CMakePackageConfigHelpers)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cornea)
install(
  TARGETS cornea
  EXPORT cornea-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT cornea-targets NAMESPACE cornea:: DESTINATION ${config_folder})
get_property(components GLOBAL PROPERTY CORNEA_COMPONENTS)
foreach(component IN LISTS components)
  install(TARGETS cornea_${component} EXPORT cornea-${component}-targets
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT cornea-${component}-targets NAMESPACE cornea:: DESTINATION ${config_folder})
endforeach()
if(CORNEA_HAS_CLI)
  install(TARGETS cornea_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Manual pages and shell completion, as the program itself describes its commands.
  if(NOT CMAKE_CROSSCOMPILING AND NOT CORNEA_SANITIZE)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
  endif()
endif()
# Where a component is missing its header says why.
foreach(component scene colmap)
  if(NOT component IN_LIST components)
    install(FILES ${PROJECT_SOURCE_DIR}/src/cornea/${component}.h
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cornea)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "images/*" PATTERN "site" EXCLUDE PATTERN "__pycache__" EXCLUDE)

set(CORNEA_COMPONENTS "${components}")
configure_package_config_file(cmake/cornea-config.cmake.in cornea-config.cmake
                              INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(cornea-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cornea-config.cmake
              ${PROJECT_BINARY_DIR}/cornea-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/find_webp.cmake DESTINATION ${config_folder})

# pkg-config: what the archive needs; a shared library has linked it already.
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
install(FILES ${PROJECT_BINARY_DIR}/cornea.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
