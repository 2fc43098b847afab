# Every library from outside, under the name by which CMakeLists.txt links it. Debian 12's
# packages suffice for all but SQLite (tools/setup.sh installs them). Heavy header-only libraries
# become one object each, compiled once: the other translation units see declarations only.
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
find_package(fmt REQUIRED)

# link_outside(<target> SINGLE <archive>... OTHER <library>...): a program with the property
# DORMOUSE_SINGLE_FILE links the archives, every other target the libraries. The objects are the
# same.
set(DORMOUSE_ARCHIVES ${PROJECT_SOURCE_DIR}/build/static/lib)  # packaging/single/libraries
if(CMAKE_CROSSCOMPILING)
  set(DORMOUSE_ARCHIVES ${PROJECT_SOURCE_DIR}/build/static-${CMAKE_SYSTEM_PROCESSOR}/lib)
endif()
cmake_path(GET OPENSSL_CRYPTO_LIBRARY PARENT_PATH system_libraries)
function(link_outside target)
  cmake_parse_arguments(ARG "" "" "SINGLE;OTHER" ${ARGN})
  set(single $<BOOL:$<TARGET_PROPERTY:DORMOUSE_SINGLE_FILE>>)
  foreach(library ${ARG_SINGLE})
    target_link_libraries(${target} INTERFACE $<${single}:${library}>)
  endforeach()
  foreach(library ${ARG_OTHER})
    target_link_libraries(${target} INTERFACE $<$<NOT:${single}>:${library}>)
  endforeach()
endfunction()
set(crypto_archives ${system_libraries}/libcrypto.a Threads::Threads ${CMAKE_DL_LIBS})
set(ssl_archives ${system_libraries}/libssl.a ${crypto_archives})

add_library(crypto INTERFACE)
link_outside(crypto SINGLE ${crypto_archives} OTHER OpenSSL::Crypto)
add_library(ssl INTERFACE)
link_outside(ssl SINGLE ${ssl_archives} OTHER OpenSSL::SSL)

# separate_library(<target> <header> LINK <library>...): one object made of <header>.
function(separate_library target header)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/libraries/${target}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n")
  add_library(${target} STATIC ${source})
  target_include_directories(${target} SYSTEM PUBLIC ${Boost_INCLUDE_DIRS})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  target_link_libraries(${target} PUBLIC ${ARG_LINK} Threads::Threads)
endfunction()

# Debian installs Boost's headers as one package without naming the libraries in it: no COMPONENTS
# here.
find_package(Boost 1.81 REQUIRED)
# Everywhere alike: a translation unit without these would hold a second definition of all of Asio.
add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
separate_library(boost_json boost/json/src.hpp)
separate_library(boost_asio boost/asio/impl/src.hpp)
separate_library(boost_beast boost/beast/src.hpp LINK boost_asio)

find_package(spdlog REQUIRED)
add_library(spdlog INTERFACE)
link_outside(spdlog SINGLE ${DORMOUSE_ARCHIVES}/libspdlog.a ${DORMOUSE_ARCHIVES}/libfmt.a
                    OTHER spdlog::spdlog fmt::fmt)

find_package(CURL 7.87 REQUIRED)
add_library(curl INTERFACE)
link_outside(curl SINGLE ${DORMOUSE_ARCHIVES}/libcurl.a ${system_libraries}/libidn2.a
                         ${system_libraries}/libunistring.a ${system_libraries}/libz.a
                         ${ssl_archives}
                  OTHER CURL::libcurl)

find_package(CLI11 REQUIRED)
add_library(cli11 INTERFACE)
target_link_libraries(cli11 INTERFACE CLI11::CLI11)

find_package(PostgreSQL 14 REQUIRED)
add_library(postgresql INTERFACE)
target_include_directories(postgresql SYSTEM INTERFACE ${PostgreSQL_INCLUDE_DIRS})
link_outside(postgresql SINGLE ${DORMOUSE_ARCHIVES}/libpq.a ${ssl_archives} m
                        OTHER ${PostgreSQL_LIBRARIES})

find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h REQUIRED)
find_library(HIREDIS_LIBRARY hiredis REQUIRED)
add_library(hiredis INTERFACE)
target_include_directories(hiredis SYSTEM INTERFACE ${HIREDIS_INCLUDE_DIR})
link_outside(hiredis SINGLE ${system_libraries}/libhiredis.a OTHER ${HIREDIS_LIBRARY})

find_path(QRENCODE_INCLUDE_DIR qrencode.h REQUIRED)
find_library(QRENCODE_LIBRARY qrencode REQUIRED)
add_library(qrencode INTERFACE)
target_include_directories(qrencode SYSTEM INTERFACE ${QRENCODE_INCLUDE_DIR})
link_outside(qrencode SINGLE ${DORMOUSE_ARCHIVES}/libqrencode.a OTHER ${QRENCODE_LIBRARY})

find_path(UTF8PROC_INCLUDE_DIR utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
add_library(unicode INTERFACE)
target_include_directories(unicode SYSTEM INTERFACE ${UTF8PROC_INCLUDE_DIR})
link_outside(unicode SINGLE ${system_libraries}/libutf8proc.a OTHER ${UTF8PROC_LIBRARY})

find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
add_library(re2 INTERFACE)
target_include_directories(re2 SYSTEM INTERFACE ${RE2_INCLUDE_DIR})
link_outside(re2 SINGLE ${system_libraries}/libre2.a OTHER ${RE2_LIBRARY})

find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(tomlplusplus INTERFACE)
target_include_directories(tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})

find_path(VALIJSON_INCLUDE_DIR valijson/validator.hpp REQUIRED)
add_library(valijson INTERFACE)
target_include_directories(valijson SYSTEM INTERFACE ${VALIJSON_INCLUDE_DIR})

# SQLite: older releases than 3.51.3 can damage a database when the WAL is reset, and Debian 12
# has 3.40.
set(SQLITE_VERSION_MIN 3.51.3)
option(DORMOUSE_SYSTEM_SQLITE "Link the system's SQLite (${SQLITE_VERSION_MIN} or later)" OFF)
set(DORMOUSE_SQLITE_DIR ${PROJECT_SOURCE_DIR}/build/sqlite
    CACHE PATH "Folder with sqlite3.c and sqlite3.h")
if(DORMOUSE_SYSTEM_SQLITE)
  find_package(SQLite3 ${SQLITE_VERSION_MIN} REQUIRED)
  add_library(sqlite INTERFACE)
  target_link_libraries(sqlite INTERFACE SQLite::SQLite3)
else()
  if(NOT EXISTS ${DORMOUSE_SQLITE_DIR}/sqlite3.c)
    message(FATAL_ERROR "No sqlite3.c in ${DORMOUSE_SQLITE_DIR}: run tools/setup.sh")
  endif()
  file(STRINGS ${DORMOUSE_SQLITE_DIR}/sqlite3.h version_line REGEX "^#define SQLITE_VERSION +\"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" sqlite_version "${version_line}")
  if(NOT sqlite_version VERSION_GREATER_EQUAL SQLITE_VERSION_MIN)
    message(FATAL_ERROR "SQLite ${sqlite_version} is too old, ${SQLITE_VERSION_MIN} is needed")
  endif()
  add_library(sqlite STATIC ${DORMOUSE_SQLITE_DIR}/sqlite3.c)
  target_include_directories(sqlite SYSTEM PUBLIC ${DORMOUSE_SQLITE_DIR})
  # Hidden symbols: a program that embeds Dormouse may link an SQLite of its own.
  target_compile_definitions(sqlite PRIVATE
    SQLITE_THREADSAFE=2 SQLITE_DQS=0 SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_DEPRECATED
    SQLITE_LIKE_DOESNT_MATCH_BLOBS SQLITE_ENABLE_DBPAGE_VTAB HAVE_FDATASYNC=1
    "SQLITE_API=__attribute__((visibility(\"hidden\")))")
  # At -O2 it takes twice as long to compile: not worth it where nobody measures.
  target_compile_options(sqlite PRIVATE -w $<IF:$<CONFIG:Debug>,-O1,-O2>)
  # AddressSanitizer checks what it gets and returns in our code, and what it copies.
  if(DORMOUSE_SANITIZE MATCHES "address")
    target_compile_options(sqlite PRIVATE -fno-sanitize=all)
  endif()
  target_link_libraries(sqlite PUBLIC Threads::Threads)
endif()

# The server's work is many small values: with jemalloc a request costs a sixth less of the loop's
# time than with glibc's malloc. A sanitizer brings its own.
add_library(allocator INTERFACE)
find_library(JEMALLOC_LIBRARY NAMES libjemalloc_pic.a)
if(JEMALLOC_LIBRARY AND NOT DORMOUSE_SANITIZE)
  target_link_libraries(allocator INTERFACE ${JEMALLOC_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS} m)
endif()

if(DORMOUSE_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
endif()
