# SPDX-License-Identifier: Apache-2.0
# Features that are found or switched. Each CORNEA_<FEATURE> is AUTO (use it if found), ON (fail if
# it is missing) or OFF; each sets CORNEA_HAS_<FEATURE> and adds one row to the summary.

set(CORNEA_SUMMARY "")

function(cornea_switch name help)
  set(default AUTO)
  if(NOT "${ARGN}" STREQUAL "")
    set(default ${ARGN})
  endif()
  set(CORNEA_${name} ${default} CACHE STRING "${help} (AUTO, ON or OFF)")
  set_property(CACHE CORNEA_${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT "${CORNEA_${name}}" STREQUAL "AUTO" AND NOT "${CORNEA_${name}}")
    set(CORNEA_${name} OFF CACHE STRING "${help} (AUTO, ON or OFF)" FORCE)
  endif()
endfunction()

# cornea_decide(TIFF <found> "what it provides" "why it is missing")
macro(cornea_decide name found gives why_not)
  if(NOT "${CORNEA_${name}}" STREQUAL "AUTO" AND NOT "${CORNEA_${name}}")
    set(CORNEA_HAS_${name} false)
    set(_row "out" "switched off (CORNEA_${name}=OFF)")
  elseif(${found})
    set(CORNEA_HAS_${name} true)
    set(_row "in" "${gives}")
  elseif("${CORNEA_${name}}" STREQUAL "AUTO")
    set(CORNEA_HAS_${name} false)
    set(_row "out" "${why_not}")
  else()
    message(FATAL_ERROR "CORNEA_${name}=ON, but ${why_not}")
  endif()
  list(APPEND CORNEA_SUMMARY "${name}" ${_row})
endmacro()

# As a part of another project Cornea is only the library, unless more is asked for.
set(_of_its_own AUTO)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(_of_its_own OFF)
endif()
option(CORNEA_INSTALL "Install the library, its package files and the program" ${PROJECT_IS_TOP_LEVEL})
option(CORNEA_UNITY "Compile several files as one unit: less than half of the time" OFF)
option(BUILD_SHARED_LIBS "Build libcornea.so instead of libcornea.a" OFF)

cornea_switch(CUDA "NVIDIA GPU kernels")
cornea_switch(TIFF "TIFF files")
cornea_switch(WEBP "WebP files")
cornea_switch(SQLITE "COLMAP databases")
cornea_switch(SCENE "synthetic views")
cornea_switch(PAGES "the page of a pair")
cornea_switch(CLI "the program cornea" ${_of_its_own})
cornea_switch(BENCH "the command cornea bench" ${_of_its_own})
cornea_switch(TESTS "the tests" ${_of_its_own})
cornea_switch(FUZZ "the fuzzing harnesses" OFF)
cornea_switch(PYTHON "the Python package" OFF)

# CUDA. The default code runs on every GPU from compute capability 7.5 on (the driver compiles it at
# first use) and contains machine code for Hopper; the release preset contains machine code for all.
set(CORNEA_CUDA_VERSION "")
set(_cuda_found FALSE)
set(_why_no_cuda "no CUDA compiler (nvcc) was found")
if("${CORNEA_CUDA}" STREQUAL "AUTO" OR "${CORNEA_CUDA}")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25 does not know that nvcc supports C++20, so it is passed as a plain option.
    add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    find_package(CUDAToolkit QUIET)
    set(CORNEA_CUDA_VERSION "${CMAKE_CUDA_COMPILER_VERSION}")
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
      set(_why_no_cuda "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old; 12 is needed for C++20")
    else()
      set(_cuda_found ${CUDAToolkit_FOUND})
    endif()
  endif()
endif()
string(REPLACE ";" " " CORNEA_CUDA_ARCHITECTURES_TEXT "${CMAKE_CUDA_ARCHITECTURES}")
cornea_decide(CUDA ${_cuda_found} "toolkit ${CORNEA_CUDA_VERSION}, for ${CORNEA_CUDA_ARCHITECTURES_TEXT}"
              "${_why_no_cuda}")

# 4.5 introduced error handlers per file; older versions print messages that we cannot suppress.
find_package(TIFF 4.5 QUIET)
cornea_decide(TIFF "${TIFF_FOUND}" "libtiff ${TIFF_VERSION_STRING}"
              "libtiff 4.5 or newer was not found (libtiff-dev)")

include(${CMAKE_CURRENT_LIST_DIR}/find_webp.cmake)
cornea_decide(WEBP ${WEBP_FOUND} "libwebp" "libwebp was not found (libwebp-dev)")

find_package(SQLite3 QUIET)
cornea_decide(SQLITE "${SQLite3_FOUND}" "SQLite ${SQLite3_VERSION}" "SQLite was not found (libsqlite3-dev)")

find_package(Eigen3 3.4 QUIET NO_MODULE)
cornea_decide(SCENE "${Eigen3_FOUND}" "Eigen ${Eigen3_VERSION}"
              "Eigen 3.4 was not found (libeigen3-dev)")

find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp)
set(_found FALSE)
if(NLOHMANN_JSON_INCLUDE_DIR)
  set(_found TRUE)
endif()
cornea_decide(PAGES ${_found} "nlohmann-json"
              "nlohmann-json was not found (nlohmann-json3-dev)")

find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
set(_why_no_cli "CLI11 was not found (libcli11-dev)")
set(_found FALSE)
if(NOT CORNEA_HAS_PAGES)
  set(_why_no_cli "it writes pages, which are off")
elseif(CLI11_INCLUDE_DIR)
  set(_found TRUE)
endif()
cornea_decide(CLI ${_found} "the program cornea" "${_why_no_cli}")

set(_found FALSE)
if(CORNEA_HAS_CLI AND CORNEA_HAS_SCENE)
  set(_found TRUE)
endif()
cornea_decide(BENCH ${_found} "cornea bench" "it needs the program and synthetic views, of which one is off")

set(_found FALSE)
if("${CORNEA_TESTS}" STREQUAL "AUTO" OR "${CORNEA_TESTS}")
  find_package(GTest QUIET)
  if(GTest_FOUND AND CORNEA_HAS_SCENE)
    set(_found TRUE)
  endif()
endif()
cornea_decide(TESTS ${_found} "GoogleTest" "GoogleTest or Eigen was not found (libgtest-dev, libeigen3-dev)")

set(_found FALSE)
if("${CMAKE_CXX_COMPILER_ID}" STREQUAL "Clang" AND NOT CORNEA_HAS_CUDA)
  set(_found TRUE)
endif()
cornea_decide(FUZZ ${_found} "libFuzzer"
              "libFuzzer needs Clang without CUDA, and this is ${CMAKE_CXX_COMPILER_ID}: cmake --preset fuzz has both")

if("${CORNEA_PYTHON}" STREQUAL "AUTO" OR "${CORNEA_PYTHON}")
  find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
endif()
cornea_decide(PYTHON "${Python_FOUND}" "Python ${Python_VERSION}" "Python 3.10 or newer with its headers was not found (python3-dev)")

function(cornea_print_summary)
  message(STATUS "")
  message(STATUS "Cornea ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} "
                 "${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_SYSTEM_PROCESSOR}")
  set(rows ${CORNEA_SUMMARY})
  while(rows)
    list(POP_FRONT rows feature state why)
    string(SUBSTRING "${feature}          " 0 10 feature)
    string(SUBSTRING "${state}   " 0 5 state)
    message(STATUS "  ${feature} ${state} ${why}")
  endwhile()
  message(STATUS "")
endfunction()
