# SPDX-License-Identifier: Apache-2.0
# Defines the target WebP::webp if libwebp is found; Debian's libwebp has no CMake package file.
find_path(WEBP_INCLUDE_DIR webp/decode.h)
find_library(WEBP_LIBRARY webp)
mark_as_advanced(WEBP_INCLUDE_DIR WEBP_LIBRARY)
set(WEBP_FOUND FALSE)
if(WEBP_INCLUDE_DIR AND WEBP_LIBRARY)
  set(WEBP_FOUND TRUE)
  if(NOT TARGET WebP::webp)
    add_library(WebP::webp UNKNOWN IMPORTED)
    set_target_properties(WebP::webp PROPERTIES IMPORTED_LOCATION ${WEBP_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${WEBP_INCLUDE_DIR})
  endif()
endif()
