#pragma once
// The append that Lane::decide_batch() builds.

#include "port/store.h"
#include "wire/journal/record.h"

#include <cstddef>
#include <vector>

namespace dormouse::runner {

struct Draft {
    port::Append append;
    bool drives = true;  // as Context::drives
    std::vector<wire::RecordPtr> records;
    std::size_t bytes = 0;
};

}  // namespace dormouse::runner
