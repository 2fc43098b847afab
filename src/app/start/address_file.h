#pragma once
// DIR/url: where the server that uses the data directory answers, so that commands of the same user
// find it without --server.

#include <string>

namespace dormouse::app {

class AddressFile {
public:
    explicit AddressFile(std::string const& directory) : path_(directory + "/url") {}
    // Removes the file if this process has written it.
    ~AddressFile();
    AddressFile(AddressFile const&) = delete;
    AddressFile& operator=(AddressFile const&) = delete;

    // Returns why it could not be written; empty: it was.
    [[nodiscard]] std::string write(std::string const& url);

private:
    std::string const path_;
    bool written_ = false;
};

}  // namespace dormouse::app
