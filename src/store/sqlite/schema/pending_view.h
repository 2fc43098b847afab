#pragma once
// The SQL view of pending calls, a step of migrations(). It reads frames with and without the short
// form (short_form.h). Files of earlier releases have a view that reads only the latter.

namespace dormouse::store::sqlite {

// Columns without stored data are NULL. A call's input is in the model's reply that asked for it:
// the last reply before the pause that names the call.
inline constexpr char const* pending_calls = R"sql(
DROP VIEW IF EXISTS pending_tool_calls;
CREATE VIEW pending_tool_calls AS
SELECT
  coalesce(json_extract(opened, opened_at || '[2].pendingID'),
    'pnd_' || session || '_'
      || iif(json_type(opened, opened_at || '[2].callID') IS NULL, '', call || '_')
      || json_extract(opened, opened_at || '[2].p'),
    'pnd_' || session || '_' || call || '_' || gen) AS id,
  'ses_' || session AS session_id,
  (SELECT 'msg_' || session || '_' || ((j.k & 16777215) + event.key)
    FROM journal j, json_each(j.data) event, json_each(event.value, '$[2].calls') asked
    WHERE j.k BETWEEN no << 24 AND no << 24 | paused
      AND json_extract(event.value, '$[0]') = 'model_replied'
      AND json_extract(asked.value, '$.callID') = 'call_' || call
    ORDER BY j.k DESC LIMIT 1) AS message_id,
  'call_' || call AS call_id, tool,
  (SELECT json_extract(asked.value, '$.input')
    FROM journal j, json_each(j.data) event, json_each(event.value, '$[2].calls') asked
    WHERE j.k BETWEEN no << 24 AND no << 24 | paused
      AND json_extract(event.value, '$[0]') = 'model_replied'
      AND json_extract(asked.value, '$.callID') = 'call_' || call
    ORDER BY j.k DESC LIMIT 1) AS input,
  CASE status WHEN 0 THEN 'waiting' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed'
    WHEN 3 THEN 'expired' ELSE 'cancelled' END AS status,
  json_extract(opened, opened_at || '[2].externalRef') AS external_ref,
  timeout, created AS created_at, NULL AS started_at,
  json_extract(closed, '$[0][1]')
    + iif(closed_at = '$[0]', 0, json_extract(closed, closed_at || '[1]')) AS completed_at,
  json_extract(closed, closed_at || '[2].result') AS result,
  json_extract(closed, closed_at || '[2].error') AS error
FROM (SELECT p.no, p.call, p.gen, p.status, p.timeout, p.created, p.paused, s.id AS session,
    t.name AS tool, o.data AS opened, '$[' || (p.paused - (o.k & 16777215)) || ']' AS opened_at,
    c.data AS closed, '$[' || (p.settled - (c.k & 16777215)) || ']' AS closed_at
  FROM pending p JOIN sessions s ON s.no = p.no JOIN names t ON t.id = p.tool
    LEFT JOIN journal o ON o.k = (SELECT max(k) FROM journal
      WHERE k BETWEEN p.no << 24 AND p.no << 24 | p.paused)
    LEFT JOIN journal c ON p.settled > 0 AND c.k = (SELECT max(k) FROM journal
      WHERE k BETWEEN p.no << 24 AND p.no << 24 | p.settled));
)sql";

}  // namespace dormouse::store::sqlite
