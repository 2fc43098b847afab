#pragma once
// Includes the whole library; docs/how-to/library.md is its introduction. Everything is in the
// inline namespace v0, named after the binary interface: a program compiled against another version
// does not link.

#if __cplusplus <= 202002L
#error "dormouse needs C++23: compile with -std=c++23"
#endif

#include <dormouse/error.h>
#include <dormouse/gate.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/model.h>
#include <dormouse/outcome.h>
#include <dormouse/registry.h>
#include <dormouse/runtime.h>
#include <dormouse/schema.h>
#include <dormouse/time.h>
#include <dormouse/tool.h>
#include <dormouse/turn.h>
#include <dormouse/vocabulary.h>
