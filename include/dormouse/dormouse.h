#pragma once
// All of the library. docs/how-to/library.md begins here.

#include <dormouse/error.h>
#include <dormouse/gate.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/model.h>
#include <dormouse/outcome.h>
#include <dormouse/runtime.h>
#include <dormouse/schema.h>
#include <dormouse/time.h>
#include <dormouse/tool.h>
#include <dormouse/turn.h>
