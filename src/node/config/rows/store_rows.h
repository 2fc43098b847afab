#pragma once
// The keys of [store].

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key store_rows[] = {
    text<&Store::url>("url", store_place,
                      "Where sessions are kept: \"sqlite\" in the data directory, \"memory\" "
                      "until the end, or postgres://USER@HOST:PORT/DATABASE?schema=NAME."),
    text<&Store::secret_url>("url_env", variable,
                             "The variable with a postgres:// URL, which may contain a password. "
                             "Then url has no meaning.")
        .like("DATABASE_URL"),
    word<&Store::signal>("signal", "notify, poll, redis",
                         "The channel of changes between servers on one PostgreSQL database: "
                         "\"notify\", they also notify each other through the database; "
                         "\"redis\", through a Redis server; \"poll\", they only ask the "
                         "database, and text of a reply that another server's model is writing "
                         "does not arrive before the reply."),
    text<&Store::signal_url>("signal_url", redis_place,
                             "With signal = \"redis\": redis://HOST:PORT or redis+unix:///PATH.")
        .like("redis://redis.example.org:6379"),
    text<&Store::secret_signal>("signal_url_env", variable,
                                "The variable with a redis:// address, which may contain a "
                                "password. Then signal_url has no meaning.")
        .like("REDIS_SIGNAL_URL"),
    text<&Store::node>("node", id,
                       "The name of this server among those on one PostgreSQL database, each with "
                       "another one; it stays the same. Default: the file node in the data "
                       "directory, which the first start writes.")
        .like("web1"),
    text<&Store::encryption_key>("encryption_key_env", variable,
                                 "The variable with the key that encrypts what sessions contain: "
                                 "base64 of 32 bytes. Several keys are separated by commas: the "
                                 "first one encrypts, all of them decrypt.")
        .like("DORMOUSE_ENCRYPTION_KEY"),
    texts<&Store::indexes>("index", index_place,
                           "Index beside the store for other programs: \"files\", JSON "
                           "files in the data directory; redis://HOST:PORT/DATABASE.")
        .like(R"(["files"])"),
    text<&Store::secret_index>("index_url_env", variable,
                               "The variable with one more redis:// address, which may contain a "
                               "password.")
        .like("REDIS_URL"),
};

}  // namespace dormouse::config::rows
