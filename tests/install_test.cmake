# SPDX-License-Identifier: Apache-2.0
# Installs into a folder of the build and checks it as users would: which headers are there, the
# README's example in a project of its own after the folder was moved, pkg-config, every public name
# linked from the shared library alone, the message for a missing component, and Cornea as a part of
# another project.
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

run("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/installed)

# The public headers that src/cornea/CMakeLists.txt lists, and nothing else.
file(GLOB_RECURSE found RELATIVE ${work}/installed/include ${work}/installed/include/*)
run("listing the public headers" ${PYTHON} ${SOURCE}/tests/house_test.py --public ${SOURCE})
string(STRIP "${output}" listed)
string(REPLACE "\n" ";" listed "${listed}")
list(SORT found)
list(SORT listed)
if(NOT "${found}" STREQUAL "${listed}")
  message(FATAL_ERROR "installed are\n${found}\nand listed as public are\n${listed}")
endif()
foreach(file LICENSE NOTICE README.md docs/sift.md licenses/CLI11.txt examples/sift_match.cc)
  if(NOT EXISTS ${work}/installed/share/doc/cornea/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# From here on the installation is somewhere else.
file(RENAME ${work}/installed ${work}/moved)
set(prefix ${work}/moved)

file(READ ${SOURCE}/README.md readme)
string(REGEX MATCH "```cpp\n([^`]*)```" unused "${readme}")
if("${CMAKE_MATCH_1}" STREQUAL "")
  message(FATAL_ERROR "README.md has no C++ example")
endif()
file(WRITE ${work}/outside/main.cc "${CMAKE_MATCH_1}")
file(COPY ${SOURCE}/tests/outside/CMakeLists.txt ${SOURCE}/tests/outside/everything.cc
     DESTINATION ${work}/outside)

run("configuring the outside project" ${CMAKE_COMMAND} -S ${work}/outside -B ${work}/build -G
    ${GENERATOR} -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${prefix};${PREFIXES}"
    -DCMAKE_CXX_FLAGS=-O0)
run("building the outside project" ${CMAKE_COMMAND} --build ${work}/build)
run("making a picture" ${prefix}/bin/cornea scene -o ${work} --views 1 --width 320 --height 240
    --samples 2)
run("the README's example" ${work}/build/example ${work}/view_000.png)
string(REGEX MATCHALL "[0-9]+ [0-9]+ [0-9.e-]+\n" corners "${output}")
list(LENGTH corners count)
if(count LESS 100)
  message(FATAL_ERROR "the README's example found ${count} corners:\n${output}")
endif()
run("every public name" ${work}/build/everything ${work})

if(SHARED)
  # One library on the command line, and no headers but the installed ones and Eigen's.
  get_filename_component(shared_folder ${SHARED} DIRECTORY)
  run("linking the shared library alone" ${COMPILER} -std=c++20 -O0 ${work}/outside/everything.cc
      -I${prefix}/include -isystem ${EIGEN} -L${shared_folder} -lcornea
      -Wl,-rpath,${shared_folder} -o ${work}/everything-shared)
  run("every public name of the shared library" ${work}/everything-shared ${work})
endif()

if(PKG_CONFIG)
  file(GLOB_RECURSE package ${prefix}/*/cornea.pc)
  get_filename_component(package_folder ${package} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${package_folder})
  run("pkg-config" ${PKG_CONFIG} --static --cflags --libs cornea)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("building with pkg-config" ${COMPILER} -std=c++20 ${work}/outside/main.cc -o
      ${work}/example-pkg-config ${flags})
  run("the README's example with pkg-config" ${work}/example-pkg-config ${work}/view_000.png)
endif()

# A component that does not exist.
file(MAKE_DIRECTORY ${work}/missing)
file(WRITE ${work}/missing/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(missing CXX)
find_package(cornea REQUIRED COMPONENTS telescope)
")
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${work}/missing -B ${work}/missing-build -G ${GENERATOR}
          "-DCMAKE_PREFIX_PATH=${prefix};${PREFIXES}"
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(status EQUAL 0 OR NOT out MATCHES "no component[ \n]*telescope")
  message(FATAL_ERROR "a component that does not exist was not named:\n${out}")
endif()

# As a part of another project, Cornea is only the library and installs nothing.
file(MAKE_DIRECTORY ${work}/parent)
file(WRITE ${work}/parent/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(parent CXX)
set(CORNEA_CUDA OFF)
add_subdirectory(${SOURCE} cornea)
if(TARGET cornea_core_test OR TARGET cornea_program OR CMAKE_BUILD_TYPE)
  message(FATAL_ERROR \"a part brings tests, a program or a build type\")
endif()
add_executable(user user.cc)
target_link_libraries(user PRIVATE cornea::cornea)
")
file(WRITE ${work}/parent/user.cc "#include <cornea/cornea.h>\nint main() {}\n")
run("configuring Cornea as a part" ${CMAKE_COMMAND} -S ${work}/parent -B ${work}/parent-build -G
    ${GENERATOR} "-DCMAKE_PREFIX_PATH=${PREFIXES}")
run("installing the whole" ${CMAKE_COMMAND} --install ${work}/parent-build --prefix ${work}/nothing)
if(EXISTS ${work}/nothing)
  message(FATAL_ERROR "a part installed something")
endif()
