#pragma once
// The rows of [[mcp]].

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key mcp_rows[] = {
    text<&Mcp::name>("name", id.sized(1, 32), "Its tools are named mcp:NAME:TOOL.").needed(),
};

inline constexpr Key mcp_command_rows[] = {
    texts<&Mcp::command>("command", any_text,
                         "A program that speaks MCP on its standard input and output; no shell.")
        .shown_as("")
        .like(R"(["npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv"])"),
    text<&Mcp::cwd>("cwd", some_text, "The folder to run in; default: the server's.").like("."),
    texts<&Mcp::env_allow>("env_allow", variables, "Environment variables that it gets.")
        .like(R"(["GITHUB_TOKEN"])"),
};

inline constexpr Key mcp_url_rows[] = {
    text<&Mcp::url>("url", url, "The address of a server over streamable HTTP.")
        .like("https://mcp.example.org/mcp"),
    table<&Mcp::headers>("headers", "Headers: name = \"text\" or { env, prefix }.")
        .like(R"({ Authorization = { env = "MCP_TOKEN", prefix = "Bearer " } })"),
    text<&Mcp::issuer>("issuer", rows::issuer,
                       "OAuth: the authorization server that has given client_id; https, except on "
                       "this machine.")
        .like("https://id.example.org"),
    text<&Mcp::client_id>("client_id", some_text.sized(1, 256), "This client's name there.")
        .like("dormouse"),
    text<&Mcp::client_secret>("client_secret_env", variable, "The variable with its secret.")
        .like("MCP_SECRET"),
    flag<&Mcp::sign_in>("sign_in",
                        "OAuth: a person signs in to the server, which may name its issuer itself "
                        "and register this client."),
    texts<&Mcp::scopes>("scopes", some_text.sized(1, 128),
                        "The scopes to ask for; default: the issuer's."),
};

inline constexpr Key mcp_more_rows[] = {
    word<&Mcp::ask>("ask", "destructive, all, none",
                    "People are asked before tools that may destroy something, all, or none."),
    word<&Mcp::sampling>(
        "sampling", "refuse, ask",
        "When the server asks for an answer of the agent's model: that is refused, "
        "or a person is asked first."),
    duration<&Mcp::time_limit>("time_limit", {100, day}, "Time limit of one call."),
    duration<&Mcp::task_limit>("task_limit", {1'000, 366 * day},
                               "Time limit of a call that the server has made a task."),
    duration<&Mcp::answer_limit>("answer_limit", {1'000, 366 * day},
                                 "Maximum wait for a person to answer a question of the server."),
    duration<&Mcp::start_limit>("start_limit", {100, hour},
                                "Time limit for connecting and listing its tools."),
    number<&Mcp::message_bytes>("message_bytes", {1'024, 8 * mib},
                                "Bytes of one message of it, such as the result of a tool."),
};

}  // namespace dormouse::config::rows
