#pragma once
// Parameters of a call in PostgreSQL's binary format: numbers are big-endian, every other value is
// its bytes. Arrays of rows are arrays of the composite types that migrations.cc creates.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::store::postgres {

using TypeId = std::uint32_t;

// The parameter of a function that takes an array of a composite type: add each row, then its
// columns in the order of the type.
class RowArray {
public:
    explicit RowArray(TypeId type) : type_(type) {}

    RowArray& row();
    RowArray& integer(std::optional<std::int64_t> number);
    RowArray& text(std::optional<std::string_view> text);
    RowArray& bytes(std::optional<std::string_view> bytes);
    RowArray& integers(std::span<std::int64_t const> numbers);

    [[nodiscard]] std::string encoded() const;

private:
    void column(TypeId type, std::optional<std::string_view> value);

    TypeId type_;
    struct Row {
        std::uint32_t columns = 0;
        std::string bytes;
    };
    std::vector<Row> rows_;
};

class Parameters {
public:
    Parameters& integer(std::optional<std::int64_t> number);
    Parameters& text(std::optional<std::string_view> text);
    Parameters& bytes(std::optional<std::string_view> bytes) { return text(bytes); }
    Parameters& integers(std::span<std::int64_t const> numbers);
    Parameters& texts(std::span<std::string const> texts);
    Parameters& byte_arrays(std::span<std::string const> values);
    Parameters& rows(RowArray const& rows);

    [[nodiscard]] std::vector<std::optional<std::string>> const& values() const { return values_; }

private:
    std::vector<std::optional<std::string>> values_;  // nullopt: NULL
};

// Reads a big-endian number of 2, 4 or 8 bytes; 0 for any other size.
[[nodiscard]] std::int64_t integer_of(std::string_view bytes);
// Reads a bigint[] without NULL elements; empty if it is something else.
[[nodiscard]] std::vector<std::int64_t> integers_of(std::string_view bytes);

}  // namespace dormouse::store::postgres
