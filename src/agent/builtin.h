#pragma once
// Built-in tools that agents of a configuration may name as well as the demo agents.

#include "agent/tool.h"

namespace dormouse::agent {

// Keeps bytes that the model gives as an artifact of the session: {name, text | base64, mime?} →
// {name, mime, bytes, artifactID}.
[[nodiscard]] Tool artifact_emit();

// The session's list of things to do. Each call gives the whole list, and its output is the list as
// it stands from then on: the journal holds it, and nothing else.
[[nodiscard]] Tool todo();

}  // namespace dormouse::agent
