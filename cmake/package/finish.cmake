# SPDX-License-Identifier: Apache-2.0
#
# Run by CPack between staging and packing. Debian packages get a copyright file and a changelog, and their
# manual pages compressed; the archive stays as `cmake --install` leaves it.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(stage ${CPACK_TEMPORARY_INSTALL_DIRECTORY})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE error
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${error}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

# gzip without name and time: the same files give the same package.
file(GLOB_RECURSE pages ${stage}/program/usr/share/man/*.1)
if(pages)
  run(gzip -9n ${pages})
endif()
# Where Debian's zsh looks for the completion of packages.
file(RENAME ${stage}/program/usr/share/zsh/site-functions ${stage}/program/usr/share/zsh/vendor-completions)
# The licence is in every Debian system, and the copyright file names it.
file(REMOVE ${stage}/program/usr/share/doc/cornea/LICENSE)
file(RENAME ${stage}/program/usr/share/doc/cornea/CHANGELOG.md
     ${stage}/program/usr/share/doc/cornea/changelog)
run(gzip -9n ${stage}/program/usr/share/doc/cornea/changelog)
file(GLOB archives ${stage}/development/usr/lib/*.a)
foreach(archive IN LISTS archives)
  run(strip --strip-debug --enable-deterministic-archives ${archive})
endforeach()

if("${CPACK_CORNEA_DATE}" STREQUAL "")
  message(FATAL_ERROR "CHANGELOG.md has no section with a date for ${CPACK_PACKAGE_VERSION}")
endif()
run(env LC_ALL=C date -u -R -d "${CPACK_CORNEA_DATE}")
set(date "${output}")
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(folder ${stage}/${component}/usr/share/doc/${package})
  file(MAKE_DIRECTORY ${folder})
  configure_file(${CPACK_CORNEA_PACKAGING}/copyright ${folder}/copyright COPYONLY)
  file(WRITE ${folder}/changelog.Debian "${package} (${version}) unstable; urgency=medium

  * Cornea ${CPACK_PACKAGE_VERSION}; changelog.gz of the package cornea says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  run(gzip -9n ${folder}/changelog.Debian)
endforeach()
