#include "config/example.h"

namespace dormouse::config {

namespace {

constexpr std::string_view text =
    R"toml(# Configuration of Dormouse. Everything below is a comment: take the # in front of a
# key away to set it. What [server], [store], [limits] and [retention] show are the defaults; the
# sections with two brackets are examples, and each may stand more than once.
#
#   dormouse config check      says what is wrong in this file, or what the server would have
#   dormouse config keys       lists every key
#
# Durations are a number and ms, s, m, h or d ("24h"). Secrets do not belong here: name the
# variable of the environment that holds them. Files are seen from the folder of this one.

#[server]
# HOST:PORT; port 0 is any free one. Beyond loopback the server needs tls_cert and tls_key, or a
# proxy that is named in trusted_proxies, or --insecure.
#listen = "127.0.0.1:3676"
# The address under which people know the server: all links begin with it, and its host is allowed.
#public_url = "https://dm.example.org"
# More values of the Host header to answer to, and origins of other pages that may call.
#allowed_hosts = []
#allowed_origins = []
# Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.
#trusted_proxies = []
# PEM files: the certificate with its chain, and its key. SIGHUP reads them anew.
#tls_cert = "server.pem"
#tls_key = "server.key"
# Where GET /metrics needs no token.
#metrics_listen = "127.0.0.1:9464"
# Webhooks go to public addresses by https; and to these HOST[:PORT], also by http.
#webhook_hosts = []
# The demo agents: there while no agent is configured; true: always, false: never.
#demo = true
# What people are asked and do not answer: a reminded event, which [[notify]] tells them of, comes
# after so long, and each such time again.
#remind_after = "1h"
#remind_every = "1d"

#[store]
# "sqlite" keeps sessions in the data directory, "memory" forgets them at the end.
#url = "sqlite"

#[limits]
# Outcomes and progress a second of one token and for one call; more are 429. Not on this machine.
#submissions_per_token_per_s = 1000
#submissions_per_call_per_s = 200
# Requests without a valid token from one address; more are 429.
#failed_auth_per_address_per_s = 10
#connections = 10000
#connections_per_address = 1000
#buffer_bytes = 268435456
#header_bytes = 32768
#header_time_limit = "10s"
#body_time_limit = "60s"
#idle_time_limit = "75s"
# An event stream that is silent for so long gets a comment.
#heartbeat = "15s"
# Sessions kept in memory, and what they take there; those at work come on top.
#resident_sessions = 16384
#resident_bytes = 268435456
#validators_at_once = 8
#validators_waiting = 1000
#prompt_bytes = 1048576
#output_bytes = 1048576
# Prompts that wait behind a session's open turn; more are 429.
#queued_prompts = 100
#open_calls = 10000
#calls_per_reply = 1000
#progress_per_s = 10
#progress_per_call = 10000

#[retention]
# Sessions that were completed so long ago are deleted, for example "7d". "none" keeps them.
#completed_after = "none"
# From so many messages on the oldest tenth of a session goes, by whole turns; unset: none does.
#messages_per_session = 1000
# Turns that ended so long ago go, for example "90d"; the newest one stays. "none" keeps them.
#message_age = "none"
# From so many bytes of journal on the oldest tenth of a session goes, by whole turns; unset: none.
#session_bytes = 67108864
# Lines of the audit that are so old are removed; what was, stands in a new line. "none" keeps them.
#audit_after = "none"
# Webhooks given up longer ago than this are forgotten.
#dead_deliveries_after = "30d"

# What holds for the sessions of one project.
#[[project]]
#id = "default"
# What mail does that does not say: "wake" who is idle, wait in the "inbox" for the next turn, or
# "steer": also who waits for results.
#mail = "wake"
# A session that was started by another as a task: that one hears of its mail.
#mail_tells_parent = true
# Its sessions may write to those of these projects, as "ops/ALIAS"; to others they may not.
#mail_to = ["ops"]

#[[model]]
#id = "main"
# scripted, openai-chat, openai-responses, anthropic, gemini, ollama
#kind = "openai-chat"
#model = "gpt-4.1-mini"
#api_key_env = "OPENAI_API_KEY"
# Left out, the provider's own.
#base_url = "https://api.openai.com/v1"
# Of one request, and how often a step is asked again after failures that may pass.
#timeout = "10m"
#retries = 4
#max_output_tokens = 4096
# What it can see at once; the oldest exchanges leave a longer session's request.
#context_tokens = 128000
# Whether it sees images, and reads files that are no text.
#images = true
#files = true
# Text, or a variable of the environment behind a prefix.
#headers = { X-Team = "ops", X-Key = { env = "TEAM_KEY", prefix = "Key " } }
# Requests at once; the others wait, oldest first.
#concurrency = 8
# More members of the request's body, sent as they stand.
#extra = { temperature = 0.2 }

# The other kinds want less or more: Anthropic's has a longest reply always, Ollama no key.
#[[model]]
#id = "responses"
#kind = "openai-responses"
#model = "gpt-5-mini"
#api_key_env = "OPENAI_API_KEY"

#[[model]]
#id = "claude"
#kind = "anthropic"
#model = "claude-sonnet-4-5"
#api_key_env = "ANTHROPIC_API_KEY"
#max_output_tokens = 8192

#[[model]]
#id = "gemini"
#kind = "gemini"
#model = "gemini-2.5-flash"
#api_key_env = "GEMINI_API_KEY"

#[[model]]
#id = "local"
#kind = "ollama"
#model = "qwen3"

#[[agent]]
#id = "ops"
#description = "Ships releases."
#model = "main"
#instructions = "Deploy what you are asked to, and say what came of it."
# Tools of this file and built-in ones (ask_human, wait_for, artifact_emit, todo); * stands for any
# text.
#tools = ["deploy", "lint_*", "ask_human"]
# When the model is asked again: all, each, any or { quorum = 2 } of a step's calls settled.
#join = "all"
#tool_concurrency = 8
#step_limit = 50

# A program that speaks ACP instead of a model. opencode, claude and gemini are there without an
# entry when they are installed.
#[[agent]]
#id = "coder"
#acp = ["opencode", "acp"]
# The folders in which its sessions may work, and environment variables that it gets.
#roots = ["~/src"]
#env_allow = ["OPENAI_API_KEY"]
# When it died in the middle of a turn: "resume" starts it again, "ask" waits for a person.
#on_restart = "resume"
# How it signs in, by a login of its own that needs nobody; mode and options of its sessions.
#auth_method = "api-key"
#session_mode = "plan"
#session_options = { model = "sonnet" }
# What it may ask Dormouse to do in its session's folder, if it asks at all: "none", "read" or
# "write" text files; run commands.
#files = "none"
#terminals = false
# How far it reaches: "bwrap" lets it write in its session's folder and its own state only; run_as
# is for a server that runs as root.
#sandbox = "bwrap"
#run_as = "agents"
# It is put away when its session was idle for so long.
#idle_stop = "10m"
# How much of the past it is told when it has lost it.
#history_tokens = 16000

# A tool that is a web service.
#[[tool]]
#name = "deploy"
#kind = "http"
#description = "Deploys a branch; the result comes when the workflow has ended."
# {input.NAME} stands for an argument, as a whole path segment or query value.
#url = "https://api.github.com/repos/o/r/actions/workflows/deploy.yml/dispatches"
#method = "POST"
#headers = { Authorization = { env = "GH_TOKEN", prefix = "Bearer " } }
# Left out: pendingID, sessionID, callID, tool, input, attempt, callbackURL and deadline.
#body = '{"ref": {"$input": "/ref"}, "inputs": {"pendingID": {"$call": "pendingID"}}}'
# Which answer means that the result comes later: "202", "2xx" or "never" (also of a program).
#later = "2xx"
# JSON pointer to the service's own name for the work, in its answer.
#external_ref = "/id"
# Requests are signed with it (Standard Webhooks).
#secret_env = "DEPLOY_SECRET"
# After a crash in mid-run: retry, ask (a person) or never.
#crash = "never"
# How long its result may take to come ("none": for ever), and one attempt.
#timeout = "24h"
#time_limit = "30s"
#estimated_duration = "5m"
# A deadline_near event comes so long before.
#warn_before = "1h"
# Told what became of each call that waited; both signatures, by the secret. With it the service may
# send its result signed to POST /async-tool/webhook, too.
#webhook_url = "https://ci.example.org/done"
#webhook_secret_env = "DEPLOY_WEBHOOK_SECRET"
#input_schema_file = "deploy.in.json"
#result_schema_file = "deploy.out.json"
# For results that nobody can push: ask there, by GET, until what `done` points to is true.
# {call.externalRef}, {call.pendingID}, {call.callID} and {call.sessionID} stand for the call's.
#[tool.poll]
#url = "https://api.github.com/repos/o/r/actions/runs/{call.externalRef}"
#every = "30s"
#done = "/conclusion"
#output = ""
# A program that checks each result before it is taken: JSON on its standard input; exit status 0:
# it fits; 1: it does not, and standard output says why.
#[tool.validator]
#command = ["./check-deploy.py"]
#cwd = "."
#env_allow = []
#time_limit = "10s"

# A tool that is a program: arguments as JSON on its standard input, result on its standard output.
#[[tool]]
#name = "lint_tree"
#kind = "command"
#command = ["./lint.sh", "--all"]
#cwd = "."
#env_allow = ["LANG"]
#crash = "retry"

# A person is asked before these tools run.
#[[gate]]
#id = "deploys"
#tools = ["deploy", "lint_*"]
#ask = "Deploy {input.ref}?"
# Names of tokens, or role:…; empty: everybody who may answer calls.
#answerers = ["alice", "role:answer"]
#need = 1
#timeout = "24h"
# At the deadline: "deny", "tell" the model that nobody answered, or "escalate:NAME" (who is asked
# then, for as long again; after that it is denied).
#on_expiry = "escalate:bob"
#forbid_requester = true
#warn_before = "1h"
#remind_after = "1h"
#remind_every = "1d"

# Who may send results as signed webhooks, to POST /async-tool/webhook/ci.
#[[source]]
#id = "ci"
# standard (Standard Webhooks), hmac (X-Webhook-Signature), github or slack
#kind = "standard"
# Any of them will do, so that they can be changed; none is set: 404.
#secrets_env = ["DORMOUSE_CI", "DORMOUSE_CI_OLD"]
#project = "default"
#tools = ["deploy"]
# Where the payload names the call: by its pendingID or by what its job is called.
#pending = "/pendingID"
#external_ref = "/run/id"
# Where its outcome is; without these two the body is one of POST /async-tool/result or /error.
#output = "/run/output"
#error = "/run/error"
#title = "/run/name"
# Other payloads are ignored.
#when = { "/action" = "completed" }

# Session events as signed webhooks (Standard Webhooks), sent until they are taken.
#[[webhook]]
#url = "https://ops.example.org/events"
#secret_env = "EVENTS_SECRET"
#events = ["call_paused", "turn_ended"]
#project = "default"

# People are told that something waits for them, with a link to PUBLIC_URL/a/PENDINGID.
#[[notify]]
# slack (an incoming webhook), webhook (JSON by POST) or command (the same on standard input)
#kind = "slack"
#url_env = "SLACK_URL"
#on = ["call_paused", "gate_asked", "agent_asked", "in_doubt", "reminded", "expired"]
#reasons = ["approval", "user_input", "elicitation"]

# The same by a program of one's own.
#[[notify]]
#kind = "command"
#command = ["./tell.sh"]
)toml";

}  // namespace

std::string_view example() { return text; }

}  // namespace dormouse::config
