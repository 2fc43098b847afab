#include "store/postgres/parameters.h"

namespace dormouse::store::postgres {
namespace {

// PostgreSQL's numbers of its own types.
constexpr TypeId bytea_type = 17;
constexpr TypeId int8_type = 20;
constexpr TypeId text_type = 25;
constexpr TypeId int8_array_type = 1016;

constexpr std::uint32_t null_size = 0xffff'ffff;

void append_number(std::string& out, std::uint64_t number, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        out += static_cast<char>(number >> shift & 0xff);
}

std::string eight_bytes(std::int64_t number) {
    std::string out;
    append_number(out, static_cast<std::uint64_t>(number), 8);
    return out;
}

void append_value(std::string& out, std::string_view value) {
    append_number(out, value.size(), 4);
    out += value;
}

// The header of an array without NULL elements; an empty array has no dimension.
std::string array_header(TypeId element, std::size_t count) {
    std::string out;
    append_number(out, count == 0 ? 0 : 1, 4);
    append_number(out, 0, 4);
    append_number(out, element, 4);
    if (count == 0) return out;
    append_number(out, count, 4);
    append_number(out, 1, 4);  // the first index
    return out;
}

std::string array_of(TypeId element, std::span<std::string const> values) {
    auto out = array_header(element, values.size());
    for (auto const& value : values) append_value(out, value);
    return out;
}

std::string array_of(std::span<std::int64_t const> numbers) {
    std::vector<std::string> values;
    values.reserve(numbers.size());
    for (auto const number : numbers) values.push_back(eight_bytes(number));
    return array_of(int8_type, values);
}

}  // namespace

RowArray& RowArray::row() {
    rows_.emplace_back();
    return *this;
}

void RowArray::column(TypeId type, std::optional<std::string_view> value) {
    auto& row = rows_.back();
    ++row.columns;
    append_number(row.bytes, type, 4);
    if (value)
        append_value(row.bytes, *value);
    else
        append_number(row.bytes, null_size, 4);
}

RowArray& RowArray::integer(std::optional<std::int64_t> number) {
    if (number)
        column(int8_type, eight_bytes(*number));
    else
        column(int8_type, std::nullopt);
    return *this;
}

RowArray& RowArray::text(std::optional<std::string_view> text) {
    column(text_type, text);
    return *this;
}

RowArray& RowArray::bytes(std::optional<std::string_view> bytes) {
    column(bytea_type, bytes);
    return *this;
}

RowArray& RowArray::integers(std::span<std::int64_t const> numbers) {
    column(int8_array_type, array_of(numbers));
    return *this;
}

std::string RowArray::encoded() const {
    auto out = array_header(type_, rows_.size());
    for (auto const& row : rows_) {
        append_number(out, row.bytes.size() + 4, 4);
        append_number(out, row.columns, 4);
        out += row.bytes;
    }
    return out;
}

Parameters& Parameters::integer(std::optional<std::int64_t> number) {
    values_.push_back(number ? std::optional(eight_bytes(*number)) : std::nullopt);
    return *this;
}

Parameters& Parameters::text(std::optional<std::string_view> text) {
    values_.push_back(text ? std::optional(std::string(*text)) : std::nullopt);
    return *this;
}

Parameters& Parameters::integers(std::span<std::int64_t const> numbers) {
    values_.emplace_back(array_of(numbers));
    return *this;
}

Parameters& Parameters::texts(std::span<std::string const> texts) {
    values_.emplace_back(array_of(text_type, texts));
    return *this;
}

Parameters& Parameters::byte_arrays(std::span<std::string const> values) {
    values_.emplace_back(array_of(bytea_type, values));
    return *this;
}

Parameters& Parameters::rows(RowArray const& rows) {
    values_.emplace_back(rows.encoded());
    return *this;
}

std::int64_t integer_of(std::string_view bytes) {
    if (bytes.size() != 2 && bytes.size() != 4 && bytes.size() != 8) return 0;
    std::uint64_t number = static_cast<unsigned char>(bytes[0]) >= 0x80 ? ~std::uint64_t{0} : 0;
    for (char const byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(number);
}

std::vector<std::int64_t> integers_of(std::string_view bytes) {
    constexpr std::size_t header = 20;
    constexpr std::size_t element = 12;  // its size and 8 bytes
    std::vector<std::int64_t> out;
    if (bytes.size() < header || (bytes.size() - header) % element != 0) return out;
    for (bytes.remove_prefix(header); !bytes.empty(); bytes.remove_prefix(element))
        out.push_back(integer_of(bytes.substr(4, 8)));
    return out;
}

}  // namespace dormouse::store::postgres
