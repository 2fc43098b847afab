# The library for programs of others: one shared object of the layers that it needs, which is no
# server and no command line, with the public headers, a CMake package and a pkg-config file.
#   cmake --install build/release --prefix DIR
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# package_library(<layer>... LINK <library>...)
function(package_library)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(libdormouse SHARED)
  foreach(layer ${ARG_UNPARSED_ARGUMENTS})
    string(REPLACE "/" "_" target ${layer})
    target_sources(libdormouse PRIVATE $<TARGET_OBJECTS:${target}>)
  endforeach()
  target_sources(libdormouse PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${public_headers})
  target_compile_features(libdormouse PUBLIC cxx_std_23)
  # Nothing of the libraries inside is seen outside: a program may bring others of the same name.
  target_link_options(libdormouse PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined)
  target_link_libraries(libdormouse PRIVATE ${ARG_LINK})
  set_target_properties(libdormouse PROPERTIES
    OUTPUT_NAME dormouse EXPORT_NAME dormouse LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  add_library(dormouse::dormouse ALIAS libdormouse)

  install(TARGETS libdormouse EXPORT dormouse-targets FILE_SET HEADERS)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/dormouse)
  install(EXPORT dormouse-targets NAMESPACE dormouse:: DESTINATION ${folder})
  configure_package_config_file(packaging/dormouse-config.cmake.in dormouse-config.cmake
                                INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(dormouse-config-version.cmake COMPATIBILITY SameMinorVersion)
  configure_file(packaging/dormouse.pc.in dormouse.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/dormouse-config.cmake
                ${PROJECT_BINARY_DIR}/dormouse-config-version.cmake DESTINATION ${folder})
  install(FILES ${PROJECT_BINARY_DIR}/dormouse.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# Programs as others write them; tests/examples.py runs each.
function(add_examples)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cc)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    target_link_libraries(example_${name} PRIVATE dormouse::dormouse dormouse_flags)
  endforeach()
endfunction()
