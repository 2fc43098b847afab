# The library for programs of others, with the public headers, a CMake package and pkg-config files:
# dormouse::dormouse is one shared object of the layers that it needs, which is no server and no
# command line; dormouse::serve is the same with the server, and takes its place.
#   cmake --install build/release --prefix DIR
# With DORMOUSE_STATIC they are archives, of which a program takes a copy. With DORMOUSE_SANITIZE
# whatever links them is compiled with the same sanitizers, which must see both sides.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# For dormouse.pc: what an archive needs of the system's libraries, and the sanitizers.
set(pc_requires "")
if(DORMOUSE_STATIC)
  set(pc_requires "Requires: openssl libcurl libutf8proc re2 spdlog fmt libpq")
endif()
set(pc_sanitize "")
if(DORMOUSE_SANITIZE)
  set(pc_sanitize " -fsanitize=${DORMOUSE_SANITIZE}")
endif()

# Of the libraries that are made here (Boost's, SQLite) the archive has the objects.
function(make_archive target)
  add_library(${target} STATIC)
  set(outside Threads::Threads)
  foreach(library ${ARGN})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${library}>)
    elseif(library STREQUAL "crypto")
      list(APPEND outside OpenSSL::Crypto)
    elseif(library STREQUAL "ssl")
      list(APPEND outside OpenSSL::SSL)
    elseif(library STREQUAL "curl")
      list(APPEND outside CURL::libcurl)
    elseif(library STREQUAL "unicode")
      list(APPEND outside -lutf8proc)
    elseif(library STREQUAL "re2")
      list(APPEND outside -lre2)
    elseif(library STREQUAL "postgresql")
      list(APPEND outside -lpq)
    elseif(library STREQUAL "spdlog")
      list(APPEND outside spdlog::spdlog fmt::fmt)
    else()
      list(APPEND outside ${library})
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE ${outside})
endfunction()

function(make_shared target)
  add_library(${target} SHARED)
  # Hidden visibility does not suffice for that: Boost's headers ask for the default one.
  set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${exports})
  if(NOT DORMOUSE_SANITIZE)  # whose functions clang leaves to the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
  target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()

# package_library(<name> <layer>... LINK <library>...)
function(package_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  string(REGEX REPLACE "^dormouse-" "" export ${name})
  if(DORMOUSE_STATIC)
    make_archive(lib${name} ${ARG_LINK})
  else()
    make_shared(lib${name} ${ARG_LINK})
  endif()
  foreach(layer ${ARG_UNPARSED_ARGUMENTS})
    string(REPLACE "/" "_" target ${layer})
    target_sources(lib${name} PRIVATE $<TARGET_OBJECTS:${target}>)
  endforeach()
  target_sources(lib${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${public_headers})
  target_compile_features(lib${name} PUBLIC cxx_std_23)
  if(DORMOUSE_SANITIZE)
    target_compile_options(lib${name} INTERFACE -fsanitize=${DORMOUSE_SANITIZE})
    target_link_options(lib${name} INTERFACE -fsanitize=${DORMOUSE_SANITIZE})
  endif()
  set_target_properties(lib${name} PROPERTIES
    OUTPUT_NAME ${name} EXPORT_NAME ${export} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  add_library(dormouse::${export} ALIAS lib${name})

  install(TARGETS lib${name} EXPORT dormouse-targets COMPONENT dev FILE_SET HEADERS COMPONENT dev)
  # Wherever the tree is moved to; a library folder may be lib or lib/x86_64-linux-gnu.
  file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
  configure_file(packaging/dormouse.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()

# After all package_library().
function(package_config)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/dormouse)
  install(EXPORT dormouse-targets NAMESPACE dormouse:: DESTINATION ${folder} COMPONENT dev)
  configure_package_config_file(packaging/dormouse-config.cmake.in dormouse-config.cmake
                                INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(dormouse-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/dormouse-config.cmake
                ${PROJECT_BINARY_DIR}/dormouse-config-version.cmake
          DESTINATION ${folder} COMPONENT dev)
endfunction()

# Programs as others write them; tests/examples.py runs each.
function(add_examples)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cc)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    file(STRINGS ${source} serves REGEX "serve\\(" LIMIT_COUNT 1)
    set(library dormouse)
    if(serves)
      set(library serve)
    endif()
    target_link_libraries(example_${name} PRIVATE dormouse::${library} dormouse_flags)
  endforeach()
endfunction()
