#pragma once
// The URL of a store: as libpq reads it, with one parameter of our own, `schema`.

#include <dormouse/error.h>

#include <string>

namespace dormouse::store::postgres {

struct Address {
    std::string url;     // for libpq; may contain a password
    std::string schema;  // of our tables: a-z, 0-9 and _
};

// Reads postgres://USER@HOST:PORT/DATABASE?schema=NAME; the default schema is "dormouse". No error
// contains any part of the URL except the schema's name.
[[nodiscard]] Result<Address> parse_address(std::string const& url);

// The database and the schema without user, password and other parameters, for people:
// "postgres://db.example.org:5432/ops?schema=dormouse". Parts that the URL does not have are left
// out.
[[nodiscard]] std::string shown(Address const& address);

}  // namespace dormouse::store::postgres
