# How our own code is compiled. Two targets come out of this file:
#   dormouse_flags   warnings and hardening, for our own code and no library's
#   dormouse_public  include/, the public headers
# What must be the same in every object of a binary (sanitizers, linker, path mapping) is set for
# all targets.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
# Whether several sources are compiled together (Layer.cmake).
if(NOT DEFINED DORMOUSE_TOGETHER AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(DORMOUSE_TOGETHER ON)
endif()
# -g1 gives stack traces with lines at half the compile time of -g. NDEBUG silences the libraries'
# own assertions; ours (base/check.h) are always on.
set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
# Layer.cmake adds -O2 to the layers that are HOT.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")

# GCC looks for garbage of its own from about 130 MB on, which is a tenth of the compile time. Where
# the memory allows 4 GB a compiler it begins later, at 1 GB; at 2 GB with 8. What it makes is the
# same.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # in MiB
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR memory_each "${memory} / ${processors}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory_each GREATER 4096)
  set(heap_kib 1048576)
  if(memory_each GREATER 8192)
    set(heap_kib 2097152)
  endif()
  add_compile_options("SHELL:--param ggc-min-heapsize=${heap_kib}"
                      "SHELL:--param ggc-min-expand=200")
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
    endif()
  endforeach()
endif()

# lld for clang only. g++ makes empty cold parts of functions, and lld 19 keeps their entry in the
# unwinder's table instead of that of the function behind them: an exception that passes it ends the
# process (tests/hardening.py looks for such functions).
find_program(LLD_PROGRAM NAMES ld.lld PATHS /usr/lib/llvm-19/bin NO_DEFAULT_PATH)
find_program(LLD_PROGRAM NAMES ld.lld)
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  cmake_path(GET LLD_PROGRAM PARENT_PATH lld_folder)
  add_link_options(-fuse-ld=lld -B${lld_folder})
endif()

# __FILE__ and debug information name src/..., wherever the tree was built. ccache hands relative
# paths to the compiler, so each mapping stands twice. A later one wins: Layer.cmake adds one for
# each layer's include root.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_BINARY_DIR}
           OUTPUT_VARIABLE source_from_binary)
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
                    -ffile-prefix-map=${source_from_binary}/=
                    -ffile-prefix-map=${PROJECT_BINARY_DIR}/=build/)

if(DORMOUSE_SANITIZE)
  add_compile_options(-fsanitize=${DORMOUSE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DORMOUSE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitize.txt)
  endif()
endif()
if(DORMOUSE_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

check_pie_supported(LANGUAGES CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# The library shows what include/ declares, between visibility pragmas, and nothing else.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(dormouse_flags INTERFACE)
target_compile_options(dormouse_flags INTERFACE
  -Wall -Wextra -Wconversion -Wformat=2 -Werror=format-security
  # g++ leaves sign conversions out of -Wconversion for C++, clang does not: the same rule for both.
  -Wno-sign-conversion)
target_compile_definitions(dormouse_flags INTERFACE _GLIBCXX_ASSERTIONS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A member left out of a designated initialiser has its default: that is what they are used for
  # here.
  target_compile_options(dormouse_flags INTERFACE -Wno-missing-designated-field-initializers)
  # libstdc++ 12's std::stable_sort calls what libstdc++ 12 deprecates; g++ knows that it is not us.
  target_compile_options(dormouse_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # As for clang above; g++ has one warning for both kinds of initialiser.
  target_compile_options(dormouse_flags INTERFACE -Wno-missing-field-initializers)
  # g++ 12 sees uninitialised members in every moved std::expected; clang and the sanitizers do not.
  target_compile_options(dormouse_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(DORMOUSE_WERROR)
  target_compile_options(dormouse_flags INTERFACE -Werror)
endif()

# The OpenSSF hardening list. Not with sanitizers: _FORTIFY_SOURCE and zeroed variables hide what
# they look for. Not for the sources of tests: their compile time is most of a build's, and nothing
# of them is shipped.
set(shipped $<NOT:$<BOOL:$<TARGET_PROPERTY:DORMOUSE_IS_TEST>>>)
if(NOT DORMOUSE_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(dormouse_flags INTERFACE
    $<${shipped}:-U_FORTIFY_SOURCE> $<${shipped}:-D_FORTIFY_SOURCE=3>)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
               -ftrivial-auto-var-init=zero -fno-delete-null-pointer-checks -fno-strict-overflow)
    string(MAKE_C_IDENTIFIER "DORMOUSE_HAS${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      target_compile_options(dormouse_flags INTERFACE $<${shipped}:${flag}>)
    endif()
  endforeach()
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack,-z,nodlopen)
endif()

add_library(dormouse_public INTERFACE)
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
target_sources(dormouse_public INTERFACE
  FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${public_headers})
set_target_properties(dormouse_public PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
