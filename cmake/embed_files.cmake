# SPDX-License-Identifier: Apache-2.0
# Embeds text files in a library, as one C++ file of string_views named after them (page.css becomes
# page_css).
#
#   cornea_embed_files(report page_files page/page.html page/page.css)
#
# writes generated/cornea/report/page_files.cc again whenever one of the files changes. This file,
# run as a script with OUTPUT, SPACE and INPUTS, does the writing.

if(CMAKE_SCRIPT_MODE_FILE)
  # A literal is split into pieces that every compiler accepts.
  set(piece 15000)
  set(code "// Made from ${INPUTS} by cmake/embed_files.cmake: edit those.\n#include <string_view>\n\n")
  string(APPEND code "namespace cornea::report::${SPACE} {\n\n")
  string(REPLACE "|" ";" inputs "${INPUTS}")
  foreach(input IN LISTS inputs)
    get_filename_component(name ${input} NAME)
    string(REPLACE "." "_" name ${name})
    file(READ ${FOLDER}/${input} content)
    string(LENGTH "${content}" length)
    string(APPEND code "extern const std::string_view ${name};\nconst std::string_view ${name} =\n")
    set(begin 0)
    while(begin LESS length)
      string(SUBSTRING "${content}" ${begin} ${piece} part)
      string(APPEND code "R\"embedded(${part})embedded\"\n")
      math(EXPR begin "${begin} + ${piece}")
    endwhile()
    string(APPEND code ";\n\n")
  endforeach()
  string(APPEND code "}  // namespace cornea::report::${SPACE}\n")
  file(WRITE ${OUTPUT} "${code}")
  return()
endif()

set(CORNEA_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(cornea_embed_files stage space)
  set(output ${PROJECT_BINARY_DIR}/generated/cornea/${stage}/${space}.cc)
  set(folder ${PROJECT_SOURCE_DIR}/src/cornea/${stage})
  list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE files)
  string(REPLACE ";" "|" inputs "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSPACE=${space} -DFOLDER=${folder}
            "-DINPUTS=${inputs}" -P ${CORNEA_EMBED_SCRIPT}
    DEPENDS ${files} ${CORNEA_EMBED_SCRIPT}
    VERBATIM)
  target_sources(cornea_objects PRIVATE ${output})
endfunction()
