#pragma once
// The SQL that creates our schema, one text for each migration (tables.cc, append_function.cc,
// writer_functions.cc, views.cc, nodes.cc, day_sums.cc,
// identity.cc, rewrites.cc, versions.cc, data_keys.cc, append_function_8.cc, aliases_9.cc,
// node_keys_10.cc, deliveries_11.cc, deleted_rows_12.cc, deleted_rows_13.cc, outcomes_15.cc).

#include <span>

namespace dormouse::store::postgres {

extern char const* const tables_1;
extern char const* const types_1;
extern char const* const append_function_1;
extern char const* const writer_functions_1;
extern char const* const views_1;
extern char const* const nodes_2;
extern char const* const day_sums_3;
extern char const* const identity_4;
extern char const* const rewrites_5;
extern char const* const versions_6;
extern char const* const data_keys_7;
extern char const* const append_function_8;
extern char const* const aliases_9;
extern char const* const node_keys_10;
extern char const* const deliveries_11;
extern char const* const deleted_rows_12;
extern char const* const deleted_rows_13;
extern char const* const aliases_index_14;
extern char const* const outcomes_15;
extern char const* const kept_index_16;

// Each is one transaction, run with the schema as the search path.
[[nodiscard]] std::span<char const* const> migrations();

}  // namespace dormouse::store::postgres
