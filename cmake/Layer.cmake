# add_layer(<name> [IN <folder>] [HOT] DEPS <name>... LINK <lib>...)
# declares one layer: src/<folder>/<name>. HOT: such layers execute most instructions of a
# job (bench/instructions), so a release compiles them with -O2; the others have -O1, which takes a
# fifth less time.
#
# The presets release, asan and tsan compile several sources together (DORMOUSE_TOGETHER): a third
# of the time, because most of it goes into shared headers. The other presets compile each source
# by itself, so that each includes what it needs.
#
# An include begins with the layer's name ("session/event.h", "store/sqlite/sqlite_store.h"),
# whatever folder of src/ groups it. A layer sees only its own headers and those of the layers that
# it names, because each layer's include root is a directory with a single symlink: including an
# unnamed layer does not compile. Tests (*_test.cc) become one binary for each layer, <layer>_tests,
# and the slow ones (*_slow_test.cc) another, <layer>_slow_tests; benchmarks (*_bench.cc)
# <layer>_bench, built when asked for. A main.cc belongs to an executable, not to the layer: in the
# archive it would replace the test runner's main.
function(add_layer folder)
  cmake_parse_arguments(ARG "HOT" "IN" "DEPS;LINK;TEST_DEPS;TEST_LINK" ${ARGN})
  string(REPLACE "/" "_" target ${folder})
  list(TRANSFORM ARG_DEPS REPLACE "/" "_")
  list(TRANSFORM ARG_TEST_DEPS REPLACE "/" "_")
  set(root ${PROJECT_BINARY_DIR}/layers/${target})
  cmake_path(GET folder PARENT_PATH parent)
  set(group src/)
  if(ARG_IN)
    set(group src/${ARG_IN}/)
  endif()
  set(home ${PROJECT_SOURCE_DIR}/${group}${folder})
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${home} ${root}/${folder} SYMBOLIC)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${home}/*.cc)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/${group} CONFIGURE_DEPENDS
       ${home}/*.h)
  list(TRANSFORM headers PREPEND "${root}/")
  set(testing ${headers})
  list(FILTER headers EXCLUDE REGEX "/testing/")
  list(FILTER testing INCLUDE REGEX "/testing/")
  if(NOT sources)  # CMake takes no archive without a source, and a layer may be headers alone
    set(sources ${PROJECT_BINARY_DIR}/libraries/headers_only.cc)
    file(CONFIGURE OUTPUT ${sources} CONTENT "")
  endif()
  together(compiled ${target} 48 ${PROJECT_SOURCE_DIR}/${group} ${sources})
  add_library(${target} STATIC ${compiled})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX VERIFY_INTERFACE_HEADER_SETS ON)
  # A header with a source of its own is the first that this source includes (tools/tidy.py): its
  # compilation shows that the header needs no other. The rest is compiled alone.
  set(alone ${headers})
  foreach(source ${sources})
    file(RELATIVE_PATH header ${PROJECT_SOURCE_DIR}/${group} ${source})
    string(REGEX REPLACE "cc$" "h" header ${header})
    list(REMOVE_ITEM alone ${root}/${header})
  endforeach()
  list(REMOVE_ITEM headers ${alone})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers}
                 PUBLIC FILE_SET alone TYPE HEADERS BASE_DIRS ${root} FILES ${alone})
  set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY alone)
  target_include_directories(${target} PUBLIC ${root})
  target_compile_options(${target} PUBLIC -ffile-prefix-map=${root}/=${group}
                         -ffile-prefix-map=layers/${target}/=${group})
  if(ARG_HOT)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  if(DORMOUSE_TOGETHER)
    # GCC warns of unnamed namespaces in included files, and here every source is included.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  target_link_libraries(${target} PUBLIC ${ARG_DEPS} dormouse_public
                        PRIVATE dormouse_flags ${ARG_LINK})
  if(NOT DORMOUSE_TESTS)
    return()
  endif()
  set(slow ${tests})
  list(FILTER slow INCLUDE REGEX "_slow_test\\.cc$")
  list(FILTER tests EXCLUDE REGEX "_slow_test\\.cc$")
  set(libraries ${target} ${ARG_TEST_DEPS} dormouse_flags ${ARG_LINK} ${ARG_TEST_LINK})
  if(testing)  # what they include is checked with what the tests see
    add_library(${target}_testing INTERFACE)
    target_sources(${target}_testing INTERFACE FILE_SET HEADERS BASE_DIRS ${root} FILES ${testing})
    target_link_libraries(${target}_testing INTERFACE ${libraries} GTest::gmock)
    set_target_properties(${target}_testing PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
  if(tests)
    together(compiled ${target}_tests 20 ${PROJECT_SOURCE_DIR}/${group} ${tests})
    add_layer_tests(${target}_tests "${compiled}" "${libraries}")
  endif()
  if(slow)
    add_layer_tests(${target}_slow_tests "${slow}" "${libraries}")
    set_tests_properties(${target}_slow_tests PROPERTIES LABELS slow)
  endif()
  if(benches)
    add_executable(${target}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(${target}_bench PRIVATE ${libraries} benchmark::benchmark_main)
  endif()
endfunction()

function(add_layer_tests name sources libraries)
  add_executable(${name} ${sources})
  set_target_properties(${name} PROPERTIES DORMOUSE_IS_TEST ON)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)  # -O2 takes a third longer
  target_link_libraries(${name} PRIVATE ${libraries} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
endfunction()

# together(<out> <target> <most> <folder> <source>...)
# sets <out> to what is compiled: sources in the build folder that include up to <most> of the given
# ones each. A source with definitions of its own stands alone. They name a source below <folder> as
# an include does ("session/admit.cc"): the text is the same in every checkout, so that ccache finds
# the object of another one.
function(together out target most folder)
  set(compiled "")
  set(members "")
  foreach(source ${ARGN})
    get_property(definitions SOURCE ${source} PROPERTY COMPILE_DEFINITIONS)
    if(DORMOUSE_TOGETHER AND NOT definitions)
      list(APPEND members ${source})
    else()
      list(APPEND compiled ${source})
    endif()
  endforeach()
  list(LENGTH members count)
  math(EXPR groups "(${count} + ${most} - 1) / ${most}")
  if(groups GREATER 0)
    math(EXPR size "(${count} + ${groups} - 1) / ${groups}")
    math(EXPR last "${groups} - 1")
    foreach(number RANGE ${last})
      math(EXPR begin "${number} * ${size}")
      list(SUBLIST members ${begin} ${size} group)
      set(text "")
      foreach(source ${group})
        file(RELATIVE_PATH name ${folder} ${source})
        string(APPEND text "#include \"${name}\"\n")
      endforeach()
      set(together ${PROJECT_BINARY_DIR}/together/${target}_${number}.cc)
      file(CONFIGURE OUTPUT ${together} CONTENT "${text}" @ONLY)
      list(APPEND compiled ${together})
    endforeach()
  endif()
  set(${out} ${compiled} PARENT_SCOPE)
endfunction()

# embed_into(<source> <definition> <path> <file>...): <source> embeds the files by .incbin and knows
# <path> by the definition. ccache does not see such files: their digest stands in the command.
function(embed_into source definition path)
  set(digests "")
  foreach(file ${ARGN})
    file(SHA256 ${file} digest)
    string(APPEND digests ${digest})
  endforeach()
  string(SHA256 digest "${digests}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set_property(SOURCE ${source} PROPERTY COMPILE_DEFINITIONS
               ${definition}="${PROJECT_SOURCE_DIR}/${path}" DORMOUSE_EMBEDDED=${digest})
  set_property(SOURCE ${source} PROPERTY OBJECT_DEPENDS ${ARGN})
endfunction()
