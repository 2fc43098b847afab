#pragma once
// The keys that encrypt the contents of a store, themselves encrypted; docs/design/encryption.md.

#include <dormouse/error.h>

#include <span>
#include <string>
#include <vector>

namespace dormouse::port {

struct DataKeyRow {
    std::string id;       // 16 hexadecimal digits
    std::string master;   // id of the master key that encrypts it, in the same form
    bool mixed = false;   // the store had contents that were not encrypted when it was written
    std::string wrapped;  // opaque here
    friend bool operator==(DataKeyRow const&, DataKeyRow const&) = default;
};

class DataKeyStore {
public:
    virtual ~DataKeyStore() = default;
    // Returns all data keys, by id. Called by the reader.
    [[nodiscard]] virtual Result<std::vector<DataKeyRow>> data_keys() = 0;
    // Inserts rows, or replaces those with the same ids; all or nothing, and durable when it
    // returns. A store that may fall back to an earlier state, as by the promotion of a standby,
    // inserts lost ones again before it writes anything else. Called by the writer.
    [[nodiscard]] virtual Result<void> put_data_keys(std::span<DataKeyRow const> rows) = 0;
};

}  // namespace dormouse::port
