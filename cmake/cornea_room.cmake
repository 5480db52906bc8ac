# SPDX-License-Identifier: Apache-2.0
# There is one library; a stage is a folder of it, a room is one algorithm of a stage.
#
#   cornea_stage(detect)
#   cornea_headers(detect corner_detector.h)   # what users may include; nothing else is installed
#   cornea_files(detect corner_detector)       # files in the stage's own folder
#   cornea_room(detect harris)                 # detect/harris/harris.{h,cc,cu}, harris_test.cc
#
# Each file name adds NAME.cc, NAME.cu (in builds with CUDA) and NAME_test.cc, if they exist, and
# the room's own header to the public ones. Code is compiled once, into cornea_objects; the library
# is made from it and, if that is shared and exports only public names, also a static library for
# the tests and the program.

set_property(GLOBAL PROPERTY CORNEA_TESTS_OF_STAGES "")

# With CORNEA_UNITY, several files are compiled as one translation unit, in the library those of one
# folder. Most of the compile time is spent on headers, which are the same in each file.
function(cornea_unite target)
  if(CORNEA_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

function(cornea_stage stage)
  if(CORNEA_HAS_TESTS)
    add_executable(cornea_${stage}_test)
    target_link_libraries(cornea_${stage}_test PRIVATE cornea_inside cornea_flags cornea_quick_build
                                                       GTest::gtest_main)
    target_compile_definitions(cornea_${stage}_test
                               PRIVATE CORNEA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    cornea_unite(cornea_${stage}_test)
    set_property(GLOBAL APPEND PROPERTY CORNEA_TESTS_OF_STAGES cornea_${stage}_test)
  endif()
endfunction()

# A library that some files need, to compile them and to link what contains them.
function(cornea_needs)
  target_link_libraries(cornea_objects PRIVATE ${ARGN})
  target_link_libraries(cornea PRIVATE ${ARGN})
  if(BUILD_SHARED_LIBS)
    target_link_libraries(cornea_inside PRIVATE ${ARGN})
  endif()
endfunction()

function(cornea_add_file stage path)
  set(base ${PROJECT_SOURCE_DIR}/src/cornea/${stage}/${path})
  if(EXISTS ${base}.cc)
    target_sources(cornea_objects PRIVATE ${base}.cc)
    cmake_path(GET path PARENT_PATH room)
    string(REPLACE / _ group ${stage}/${room})
    set_source_files_properties(${base}.cc PROPERTIES UNITY_GROUP ${group})
  endif()
  if(CORNEA_HAS_CUDA AND EXISTS ${base}.cu)
    target_sources(cornea_objects PRIVATE ${base}.cu)
  endif()
  if(CORNEA_HAS_TESTS AND EXISTS ${base}_test.cc)
    target_sources(cornea_${stage}_test PRIVATE ${base}_test.cc)
  endif()
  if(CORNEA_HAS_TESTS AND CORNEA_HAS_CUDA AND EXISTS ${base}_test.cu)
    target_sources(cornea_${stage}_test PRIVATE ${base}_test.cu)
  endif()
  file(GLOB any ${base}.cc ${base}.cu ${base}_test.cc ${base}_test.cu)
  if(NOT any)
    message(FATAL_ERROR "stage ${stage} has no file ${path}.cc, ${path}.cu or test of that name")
  endif()
endfunction()

function(cornea_files stage)
  foreach(file IN LISTS ARGN)
    cornea_add_file(${stage} ${file})
  endforeach()
endfunction()

function(cornea_room stage room)
  cornea_headers(${stage} ${room}/${room}.h)
  cornea_add_file(${stage} ${room}/${room})
  foreach(step IN LISTS ARGN)
    cornea_add_file(${stage} ${room}/${step})
  endforeach()
endfunction()

# Files whose loops need fused multiply-adds, compiled per instruction set: see core/isa.h.
function(cornea_vector_files stage)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "OPTIONS")
  foreach(file IN LISTS ARG_UNPARSED_ARGUMENTS)
    cornea_add_file(${stage} ${file})
    set_source_files_properties(${stage}/${file}.cc PROPERTIES COMPILE_OPTIONS "${ARG_OPTIONS}")
    if(CORNEA_HAS_AVX2_FILES)
      set(copy ${PROJECT_BINARY_DIR}/generated/avx2/${stage}/${file}.cc)
      file(CONFIGURE OUTPUT ${copy} CONTENT
           "#define CORNEA_ISA avx2\n#include \"cornea/${stage}/${file}.cc\"\n")
      target_sources(cornea_objects PRIVATE ${copy})
      set_source_files_properties(${copy} PROPERTIES COMPILE_OPTIONS
                                                     "${ARG_OPTIONS};-march=x86-64-v3")
    endif()
  endforeach()
endfunction()

# cornea_headers(STAGE HEADER...), or with COMPONENT NAME first, for a component with dependencies
# of its own.
function(cornea_headers)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "COMPONENT" "")
  set(target cornea)
  if(ARG_COMPONENT)
    set(target cornea_${ARG_COMPONENT})
  endif()
  list(POP_FRONT ARG_UNPARSED_ARGUMENTS stage)
  list(TRANSFORM ARG_UNPARSED_ARGUMENTS PREPEND ${PROJECT_SOURCE_DIR}/src/cornea/${stage}/)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(scope INTERFACE)
  else()
    set(scope PUBLIC)
  endif()
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src
                                             ${PROJECT_BINARY_DIR}/generated FILES
                                             ${ARG_UNPARSED_ARGUMENTS})
endfunction()

# A component of the package that needs more than the library itself: its headers and their
# dependencies.
function(cornea_component name)
  add_library(cornea_${name} INTERFACE)
  add_library(cornea::${name} ALIAS cornea_${name})
  set_target_properties(cornea_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(cornea_${name} INTERFACE cornea ${ARGN})
  set_property(GLOBAL APPEND PROPERTY CORNEA_COMPONENTS ${name})
endfunction()

# Registers the tests of an executable with CTest, one by one. Under the sanitizers the executable
# is one test, or four that run in parallel, because the leak check at the end of a program takes
# seconds. Tests that repeat the same a hundred times or for several numbers of threads, measure,
# limit the memory or would take minutes are left out there.
# cornea_register_tests(TARGET [slow]): `script/test quick` leaves the slow ones out.
function(cornea_register_tests target)
  if(CORNEA_SANITIZE)
    set(parts 1)
    if(target MATCHES "^cornea_(pipeline|describe)_test$")
      set(parts 4)
    endif()
    foreach(part RANGE 1 ${parts})
      set(name ${target})
      if(parts GREATER 1)
        string(APPEND name .${part})
      endif()
      add_test(NAME ${name} COMMAND ${target} --gtest_filter=-*AHundred*:*Bench*:*Stud*:*Readme*:*Killed*:*StoppedAnywhere*:*NeedsLittleMemory*:*WideWindows*:*SkipsNothingAboveFloatRounding*:*KeepALargeImage*:*ThreadCount*:CertificateThreads.*:*StaysUnderSixMegabytes*)
      math(EXPR index "${part} - 1")
      # Cornea itself must report a failed allocation.
      set_tests_properties(${name} PROPERTIES ENVIRONMENT
        "ASAN_OPTIONS=allocator_may_return_null=1;GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
    endforeach()
  else()
    include(GoogleTest)
    # Tests that watch or take the machine's memory run alone.
    set(alone *NoMoreMemory*:*AllMemoryIsTaken*)
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER -${alone}
      PROPERTIES TIMEOUT 600 LABELS "${ARGN}")
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER ${alone}
      PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE LABELS "${ARGN}")
  endif()
endfunction()

# Does the same for every stage, once all rooms have added their files.
function(cornea_register_stage_tests)
  get_property(tests GLOBAL PROPERTY CORNEA_TESTS_OF_STAGES)
  foreach(test IN LISTS tests)
    cornea_register_tests(${test})
  endforeach()
endfunction()
