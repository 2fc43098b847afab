#pragma once
// All of the library. docs/how-to/library.md begins here. Everything is in the inline namespace of
// its binary interface, v0: a program that was compiled against another one does not link.

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
