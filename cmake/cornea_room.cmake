# A stage is one library target; a room is one algorithm in it.
#
#   cornea_stage(detect DEPENDS core filter)
#   cornea_room(detect harris)            # src/cornea/detect/harris/harris.{h,cc,cu}, harris_test.cc
#   cornea_files(core error image ...)    # files that lie in the stage's own folder
#
# Each name adds NAME.cc, NAME.cu (in builds with CUDA) and NAME_test.cc, where they exist. A stage's
# tests link that stage and what it depends on, nothing else, so that a call against the way the
# data moves does not link.

set_property(GLOBAL PROPERTY CORNEA_STAGES "")

function(cornea_stage stage)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  set(target cornea_${stage})
  add_library(${target} STATIC)
  add_library(cornea::${stage} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${stage} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                     $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} PUBLIC cornea_${dependency})
  endforeach()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:cornea_flags> ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY CORNEA_STAGES ${target})
  if(CORNEA_HAS_TESTS)
    add_executable(cornea_${stage}_test)
    target_link_libraries(cornea_${stage}_test PRIVATE ${target} cornea_flags cornea_quick_build
                                                       GTest::gtest_main)
    target_compile_definitions(cornea_${stage}_test
                               PRIVATE CORNEA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  endif()
endfunction()

function(cornea_add_file stage path)
  set(base ${PROJECT_SOURCE_DIR}/src/cornea/${stage}/${path})
  if(EXISTS ${base}.cc)
    target_sources(cornea_${stage} PRIVATE ${base}.cc)
  endif()
  if(CORNEA_HAS_CUDA AND EXISTS ${base}.cu)
    target_sources(cornea_${stage} PRIVATE ${base}.cu)
  endif()
  if(CORNEA_HAS_TESTS AND EXISTS ${base}_test.cc)
    target_sources(cornea_${stage}_test PRIVATE ${base}_test.cc)
  endif()
  if(CORNEA_HAS_TESTS AND CORNEA_HAS_CUDA AND EXISTS ${base}_test.cu)
    target_sources(cornea_${stage}_test PRIVATE ${base}_test.cu)
  endif()
endfunction()

function(cornea_room stage room)
  cornea_add_file(${stage} ${room}/${room})
  foreach(step IN LISTS ARGN)
    cornea_add_file(${stage} ${room}/${step})
  endforeach()
endfunction()

function(cornea_files stage)
  foreach(file IN LISTS ARGN)
    cornea_add_file(${stage} ${file})
  endforeach()
endfunction()

# Registers the tests of an executable with CTest, one by one. Under the sanitizers the executable is
# one test: the search for leaks at a program's end takes seconds. Left out there is what does the same
# a hundred times.
function(cornea_register_tests target)
  if(CORNEA_SANITIZE)
    add_test(NAME ${target} COMMAND ${target} --gtest_filter=-*AHundred*)
    # A failed allocation is ours to report.
    set_tests_properties(${target} PROPERTIES ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1)
  else()
    include(GoogleTest)
    # Tests that watch the machine's memory run alone.
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER -*NoMoreMemory*
      PROPERTIES TIMEOUT 600)
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER *NoMoreMemory*
      PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE)
  endif()
endfunction()

# The same for every stage, once all rooms have added their files.
function(cornea_register_stage_tests)
  get_property(stages GLOBAL PROPERTY CORNEA_STAGES)
  foreach(target IN LISTS stages)
    cornea_register_tests(${target}_test)
  endforeach()
endfunction()
