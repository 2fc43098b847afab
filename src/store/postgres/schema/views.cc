// The views that other programs read: the tables of the specifications 000 and 002, computed from
// the journal. The SQLite store has the same views (store/sqlite/schema/schema.cc). Values keep the
// type json, because jsonb has no U+0000.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

char const* const views_1 = R"sql(
CREATE VIEW agent_sessions AS
SELECT 'ses_' || s.id AS id, s.project AS project_id, s.agent AS agent_id,
  (SELECT coalesce(e.value -> 2 ->> 'acpSessionID', e.value -> 2 ->> 'acpSession')
    FROM journal j CROSS JOIN LATERAL json_array_elements(j.data::json)
      WITH ORDINALITY e(value, place)
    WHERE j.no = s.no AND e.value ->> 0 IN ('attached', 'base_state')
    ORDER BY j.first DESC, e.place DESC LIMIT 1) AS acp_session_id,
  nullif(s.title, '') AS title, s.status AS status,
  (SELECT j.data::json -> 0 -> 2 ->> 'cwd' FROM journal j WHERE j.no = s.no
    ORDER BY j.first LIMIT 1) AS working_directory,
  s.created / 1000 AS created_at, s.updated / 1000 AS updated_at
FROM sessions s WHERE s.status <> 'deleted';

CREATE VIEW pending_tool_calls AS
SELECT coalesce(x.opened -> 2 ->> 'pendingID', 'pnd_' || x.session || '_' || x.call || '_' || x.gen)
    AS id,
  'ses_' || x.session AS session_id, 'msg_' || x.session || '_' || asked.seq AS message_id,
  'call_' || x.call AS call_id, x.tool, asked.input,
  CASE x.status WHEN 0 THEN 'waiting' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed'
    WHEN 3 THEN 'expired' ELSE 'cancelled' END AS status,
  x.opened -> 2 ->> 'externalRef' AS external_ref, x.timeout, x.created AS created_at,
  NULL::bigint AS started_at,
  (x.closed -> 0 ->> 1)::bigint + CASE WHEN x.closed_at = 0 THEN 0
    ELSE (x.closed -> x.closed_at ->> 1)::bigint END AS completed_at,
  x.closed -> x.closed_at -> 2 ->> 'result' AS result,
  x.closed -> x.closed_at -> 2 ->> 'error' AS error
FROM (SELECT p.*, s.id AS session, o.data::json -> (p.paused - o.first)::int AS opened,
      c.data::json AS closed, (p.settled - c.first)::int AS closed_at
    FROM pending p JOIN sessions s ON s.no = p.no
      LEFT JOIN LATERAL (SELECT * FROM journal j WHERE j.no = p.no AND j.first <= p.paused
        ORDER BY j.first DESC LIMIT 1) o ON true
      LEFT JOIN LATERAL (SELECT * FROM journal j WHERE j.no = p.no AND j.first <= p.settled
          AND p.settled > 0 ORDER BY j.first DESC LIMIT 1) c ON true) x
  LEFT JOIN LATERAL (SELECT j.first + e.place - 1 AS seq, call.value ->> 'input' AS input
    FROM journal j CROSS JOIN LATERAL json_array_elements(j.data::json)
        WITH ORDINALITY e(value, place)
      CROSS JOIN LATERAL json_array_elements(CASE WHEN e.value ->> 0 = 'model_replied'
        AND json_typeof(e.value -> 2 -> 'calls') = 'array' THEN e.value -> 2 -> 'calls' END)
        call(value)
    WHERE j.no = x.no AND j.first <= x.paused AND call.value ->> 'callID' = 'call_' || x.call
    ORDER BY j.first DESC LIMIT 1) asked ON true;

CREATE VIEW agent_session_messages AS
WITH events AS (
  SELECT s.id AS session, coalesce((e.value ->> 5)::bigint, j.first + e.place - 1) AS seq,
    e.value ->> 0 AS type, e.value -> 2 AS data,
    ((j.data::json -> 0 ->> 1)::bigint
      + CASE WHEN e.place = 1 THEN 0 ELSE (e.value ->> 1)::bigint END) / 1000 AS at
  FROM sessions s JOIN journal j ON j.no = s.no
    CROSS JOIN LATERAL json_array_elements(j.data::json) WITH ORDINALITY e(value, place)
  WHERE s.status <> 'deleted'),
lists AS (
  SELECT session, seq, type, CASE WHEN type = 'agent_update' THEN data ->> 'messageID'
      ELSE 'msg_' || session || '_' || seq END AS message,
    CASE WHEN type IN ('input_received', 'model_replied') THEN data -> 'parts'
      WHEN type = 'agent_update' AND data ->> 'kind' = 'message' THEN data -> 'body' END AS parts,
    CASE WHEN type = 'model_replied' THEN data -> 'calls' END AS calls
  FROM events),
parts AS (
  SELECT l.session, l.message, l.seq, part.place, part.value ->> 'type' AS type,
    part.value ->> 'text' AS text, part.value ->> 'name' AS name, part.value ->> 'alt' AS alt,
    coalesce(part.value ->> 'url', '/api/artifacts/' || (part.value ->> 'artifactID')) AS url
  FROM lists l CROSS JOIN LATERAL json_array_elements(
    CASE WHEN json_typeof(l.parts) = 'array' THEN l.parts END) WITH ORDINALITY part(value, place)),
news AS (
  SELECT session, seq, type, data, CASE WHEN type = 'agent_update' THEN data -> 'body' -> 'output'
      WHEN data -> 'error' IS NOT NULL THEN data -> 'error'
      WHEN data -> 'output' IS NOT NULL THEN data -> 'output'
      WHEN data -> 'decision' IS NOT NULL THEN data -> 'decision' -> 'output'
      ELSE data -> 'result' -> 'output' END #>> '{}' AS output,
    count(*) FILTER (WHERE type IN ('agent_replied', 'agent_detached'))
      OVER (PARTITION BY session ORDER BY seq) AS prompt
  FROM events WHERE type IN ('tool_finished', 'submitted', 'expired', 'cancelled', 'agent_asked',
      'agent_replied', 'agent_detached')
    OR (type = 'agent_update' AND data ->> 'kind' = 'tool')),
shown AS (
  SELECT session, prompt, seq, CASE WHEN type = 'agent_asked' THEN data -> 'call' ->> 'modelID'
      ELSE data ->> 'toolCallID' END AS id,
    data ->> 'messageID' AS message, data -> 'body' ->> 'name' AS name,
    data -> 'body' ->> 'kind' AS kind, data -> 'call' ->> 'tool' AS asked,
    (data -> 'body' -> 'input')::text AS input, (data -> 'call' -> 'input')::text AS asked_input,
    CASE WHEN type = 'agent_update' THEN output END AS output, data ->> 'status' AS status
  FROM news WHERE type IN ('agent_update', 'agent_asked')),
tools AS (
  SELECT session, prompt, min(seq) AS seq, id,
    (array_agg(message ORDER BY seq) FILTER (WHERE message IS NOT NULL))[1] AS message,
    (array_agg(name ORDER BY seq DESC) FILTER (WHERE name IS NOT NULL))[1] AS name,
    (array_agg(kind ORDER BY seq DESC) FILTER (WHERE kind IS NOT NULL))[1] AS kind,
    max(asked) AS asked,
    (array_agg(input ORDER BY seq DESC) FILTER (WHERE input IS NOT NULL))[1] AS input,
    (array_agg(asked_input ORDER BY seq DESC) FILTER (WHERE asked_input IS NOT NULL))[1]
      AS asked_input,
    (array_agg(output ORDER BY seq DESC) FILTER (WHERE output IS NOT NULL))[1] AS output,
    (array_agg(status ORDER BY seq DESC) FILTER (WHERE status IS NOT NULL))[1] AS status
  FROM shown GROUP BY session, prompt, id),
prompts AS (SELECT session, max(prompt) AS newest FROM news GROUP BY session),
calls AS (
  SELECT l.session, l.message, l.seq, call.place, call.value ->> 'callID' AS id,
    call.value ->> 'tool' AS name, coalesce((call.value -> 'input')::text, 'null') AS input,
    o.output, CASE WHEN o.type IS NULL THEN 'pending'
      WHEN o.data -> 'error' IS NOT NULL OR o.type IN ('expired', 'cancelled') THEN 'failed'
      ELSE 'completed' END AS status
  FROM lists l CROSS JOIN LATERAL json_array_elements(
      CASE WHEN json_typeof(l.calls) = 'array' THEN l.calls END)
      WITH ORDINALITY call(value, place)
    LEFT JOIN LATERAL (SELECT * FROM news x WHERE x.session = l.session
        AND x.type IN ('tool_finished', 'submitted', 'expired', 'cancelled')
        AND x.data ->> 'callID' = call.value ->> 'callID' ORDER BY x.seq DESC LIMIT 1) o ON true
  UNION ALL
  SELECT t.session, t.message, t.seq, 0, t.id,
    coalesce(t.name, 'acp:' || t.kind, t.asked, 'acp:other'),
    coalesce(t.input, t.asked_input, 'null'), t.output,
    CASE WHEN t.status IN ('completed', 'failed') THEN t.status
      WHEN t.prompt < p.newest THEN 'failed' ELSE 'pending' END
  FROM tools t JOIN prompts p ON p.session = t.session WHERE t.message IS NOT NULL),
messages AS (
  SELECT session, message, min(seq) AS seq, min(at) AS at, min(role) AS role
  FROM (SELECT session, seq, at, CASE WHEN type IN ('agent_update', 'agent_asked')
        THEN data ->> 'messageID' ELSE 'msg_' || session || '_' || seq END AS message,
      CASE WHEN type = 'input_received' THEN 'user' ELSE 'assistant' END AS role
    FROM events WHERE type IN ('input_received', 'model_replied', 'agent_update', 'agent_asked'))
    each
  WHERE message IS NOT NULL GROUP BY session, message)
SELECT m.message AS id, 'ses_' || m.session AS session_id, m.role AS role,
  json_build_object(
    'text', (SELECT coalesce(string_agg(text, '' ORDER BY p.seq, p.place), '') FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'text'),
    'images', (SELECT coalesce(json_agg(json_build_object('url', url, 'alt', coalesce(alt, name))
        ORDER BY p.seq, p.place), '[]') FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'image'),
    'files', (SELECT coalesce(json_agg(json_build_object('path', coalesce(name, url))
        ORDER BY p.seq, p.place), '[]') FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'file')) AS content,
  (SELECT json_agg(json_build_object('id', id, 'name', name, 'input', input::json,
      'output', output, 'status', status) ORDER BY c.seq, c.place)
    FROM calls c WHERE c.session = m.session AND c.message = m.message) AS tool_calls,
  m.at AS created_at
FROM messages m ORDER BY m.session, m.seq;
)sql";

}  // namespace dormouse::store::postgres
