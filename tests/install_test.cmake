# Installs into a folder of the build, extracts the README's C++ example, builds it in a project that
# knows nothing but that folder, and runs it.
set(work ${BUILD}/install-test)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work}/outside)

string(REPLACE "|" ";" PREFIXES "${PREFIXES}")

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

run("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)

file(READ ${SOURCE}/README.md readme)
string(REGEX MATCH "```cpp\n([^`]*)```" unused "${readme}")
if("${CMAKE_MATCH_1}" STREQUAL "")
  message(FATAL_ERROR "README.md has no C++ example")
endif()
file(WRITE ${work}/outside/main.cc "${CMAKE_MATCH_1}")
file(COPY ${SOURCE}/tests/outside/CMakeLists.txt DESTINATION ${work}/outside)

run("configuring the outside project" ${CMAKE_COMMAND} -S ${work}/outside -B ${work}/build -G
    ${GENERATOR} -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${work}/prefix;${PREFIXES}")
run("building the outside project" ${CMAKE_COMMAND} --build ${work}/build)
run("making a picture" ${work}/prefix/bin/cornea scene -o ${work} --views 1 --width 320 --height 240
    --samples 2)
run("the README's example" ${work}/build/example ${work}/view_000.png)
if(NOT output MATCHES "[1-9][0-9]+ corners")
  message(FATAL_ERROR "the README's example found no corners:\n${output}")
endif()
message(STATUS "${output}")
