# SPDX-License-Identifier: Apache-2.0
#
# Packages of what is installed; script/package builds and makes them all.
#   cpack -G DEB    cornea (the program) and libcornea-dev (the library), for the system that built them
#   cpack -G TGZ    one archive with everything, which can be unpacked anywhere
set(CPACK_PACKAGE_NAME cornea)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The Cornea authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # the first line of each Debian package's own description
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" _system)
if(CORNEA_HAS_CUDA)
  string(REGEX MATCH "^[0-9]+" _cuda "${CORNEA_CUDA_VERSION}")
  string(APPEND _system "-cuda${_cuda}")
endif()
set(CPACK_PACKAGE_FILE_NAME cornea-${PROJECT_VERSION}-${_system})

# Who made the package, as Debian's own tools are told.
set(_name "The Cornea authors")
set(_mail "cornea@example.invalid")
if(NOT "$ENV{DEBFULLNAME}" STREQUAL "")
  set(_name "$ENV{DEBFULLNAME}")
endif()
if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(_mail "$ENV{DEBEMAIL}")
endif()
set(CORNEA_PACKAGE_MAINTAINER "${_name} <${_mail}>" CACHE STRING "Of the Debian packages; from DEBFULLNAME and DEBEMAIL")
set(CPACK_PACKAGE_CONTACT "${CORNEA_PACKAGE_MAINTAINER}")

set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME cornea)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "colmap, libcornea-dev")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
    "interest points and two-view geometry of photographs
Cornea finds interest points in images (SIFT, FOAGDD, Harris, Moravec),
matches them and estimates fundamental matrices, essential matrices with the
relative pose, and homographies by RANSAC. It turns two photographs into a
page of their geometry, and a folder of photographs into a COLMAP database
with verified pairs. Results are the same to the bit on every machine.
.
This package holds the program cornea, its manual pages and documents.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcornea-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "interest points and two-view geometry (development files)
Cornea finds interest points in images (SIFT, FOAGDD, Harris, Moravec),
matches them and estimates fundamental matrices, essential matrices with the
relative pose, and homographies by RANSAC.
.
This package holds the static C++20 library, its headers, the files for CMake
and pkg-config, and examples.")
# What find_package(cornea) and pkg-config look for: the archive links these. Scenes show Eigen's types.
set(_needs "libpng-dev, libjpeg-dev")
if(CORNEA_HAS_TIFF)
  string(APPEND _needs ", libtiff-dev")
endif()
if(CORNEA_HAS_WEBP)
  string(APPEND _needs ", libwebp-dev")
endif()
if(CORNEA_HAS_SQLITE)
  string(APPEND _needs ", libsqlite3-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${_needs}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "libeigen3-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cornea")

# What Debian wants beside the files, once they are staged.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package/finish.cmake)
set(CPACK_CORNEA_PACKAGING ${PROJECT_SOURCE_DIR}/cmake/package)
file(STRINGS ${PROJECT_SOURCE_DIR}/CHANGELOG.md _head REGEX "^## ${PROJECT_VERSION} " LIMIT_COUNT 1)
string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+" CPACK_CORNEA_DATE "${_head}")
include(CPack)
