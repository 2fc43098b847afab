# The packages `dormouse` and `libdormouse-dev`: packaging/build deb. Their files are installed by
# component only, so that `cmake --install` installs the library alone, as before.
set(made ${PROJECT_BINARY_DIR}/deb)
set(deb ${PROJECT_SOURCE_DIR}/packaging/deb)
set(doc_files)
foreach(package dormouse libdormouse-dev)
  configure_file(packaging/deb/changelog.in ${made}/${package}/changelog @ONLY)
  add_custom_command(OUTPUT ${made}/${package}/changelog.gz
    COMMAND gzip -9nc changelog > changelog.gz
    DEPENDS ${made}/${package}/changelog WORKING_DIRECTORY ${made}/${package} VERBATIM)
  list(APPEND doc_files ${made}/${package}/changelog.gz)
  string(REPLACE "libdormouse-dev" "dev" component ${package})
  install(FILES ${made}/${package}/changelog.gz ${deb}/copyright
          DESTINATION share/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
# What the program itself prints.
add_custom_command(OUTPUT ${made}/dormouse.1.gz ${made}/dormouse.bash ${made}/_dormouse
                          ${made}/dormouse.fish
  COMMAND dormouse man > dormouse.1
  COMMAND gzip -9nf dormouse.1
  COMMAND dormouse completion bash > dormouse.bash
  COMMAND dormouse completion zsh > _dormouse
  COMMAND dormouse completion fish > dormouse.fish
  DEPENDS dormouse WORKING_DIRECTORY ${made} VERBATIM)
add_custom_target(deb_files DEPENDS ${doc_files} ${made}/dormouse.1.gz)

macro(install_program)
  install(${ARGN} COMPONENT dormouse EXCLUDE_FROM_ALL)
endmacro()
install_program(TARGETS dormouse RUNTIME DESTINATION bin)
install_program(FILES ${made}/dormouse.1.gz DESTINATION share/man/man1)
install_program(FILES ${made}/dormouse.bash DESTINATION share/bash-completion/completions
                RENAME dormouse)
install_program(FILES ${made}/_dormouse DESTINATION share/zsh/vendor-completions)
install_program(FILES ${made}/dormouse.fish DESTINATION share/fish/vendor_completions.d)
foreach(unit dormouse.service dormouse@.service dormouse.socket)
  install_program(FILES packaging/systemd/${unit} DESTINATION /lib/systemd/system)
endforeach()
install_program(FILES ${deb}/dormouse.toml DESTINATION /etc/dormouse)
install_program(DIRECTORY DESTINATION /etc/dormouse/credentials
                DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL dormouse dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)
set(CPACK_STRIP_FILES ON)
# Whatever the umask of who packs.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_NAME dormouse)
set(CPACK_PACKAGE_CONTACT "The Dormouse authors <maintainers@dormouse.example>")
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_DORMOUSE_PACKAGE_NAME dormouse)
set(CPACK_DEBIAN_DORMOUSE_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_DORMOUSE_PACKAGE_RECOMMENDS "ca-certificates, jq")
set(CPACK_DEBIAN_DORMOUSE_PACKAGE_CONTROL_EXTRA
    ${made}/conffiles ${deb}/postinst ${deb}/prerm ${deb}/postrm)
set(CPACK_COMPONENT_DORMOUSE_DESCRIPTION "durable agent sessions that sleep while their tools work
A session is one durable conversation with an agent. It survives crashes,
sleeps while a tool or a person takes days to answer, and wakes exactly once.
This package has the server, its command line and units for systemd.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libdormouse-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# A program of the shared library links no other of our libraries.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libstdc++-12-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_CONTROL_EXTRA ${made}/shlibs ${made}/triggers)
set(CPACK_COMPONENT_DEV_DESCRIPTION "durable agent sessions - library and headers
A program in C++23 runs agent sessions in its own process, with or without
the HTTP interface. This package has the library, its headers, and files
for CMake and pkg-config.")
file(WRITE ${made}/conffiles "/etc/dormouse/dormouse.toml\n")
file(WRITE ${made}/triggers "activate-noawait ldconfig\n")
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(WRITE ${made}/shlibs "libdormouse ${soversion} libdormouse-dev (>= ${PROJECT_VERSION})
libdormouse-serve ${soversion} libdormouse-dev (>= ${PROJECT_VERSION})\n")
include(CPack)
