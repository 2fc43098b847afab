"""The alert rules, and for each the series with which it fires and with which it is quiet.

`tools/dashboard.py` writes them, `tests/observability.py` has promtool try each of them.
"""
import dataclasses

import yaml

JOB = 'job="dormouse"'
NOT_HELD = 'unless on (job, instance) dormouse_held == 1'
GROWING, STILL = '0+2x180', '7x180'  # a counter, one value a minute


@dataclasses.dataclass(frozen=True)
class Alert:
    """`fires` and `quiet`: {series: values}, one value a minute for three hours; labels in braces
    are added to those of a server. Keep `quiet` as near to firing as a healthy server comes."""
    name: str
    expression: str
    severity: str  # critical: something stands still or is lost; warning: look today
    wait: str  # how long the expression must hold
    summary: str
    action: str
    fires: dict
    quiet: dict


def grew(metric, window='15m'):
    """A counter whose series may appear with its first count: rate() alone misses that one."""
    return f'(increase({metric}[{window}]) > 0 or {metric} > 0 unless {metric} offset {window})'


def share(part, whole, window='15m'):
    return (f'sum by (job, instance) (rate({part}[{window}])) / '
            f'sum by (job, instance) (rate({whole}[{window}]))')


def p99(metric, window='15m'):
    buckets = f'sum by (job, instance, le) (rate({metric}_bucket[{window}]))'
    return f'histogram_quantile(0.99, {buckets})'


SERVER = (
    Alert('DormouseDown', f'up{{{JOB}}} == 0', 'critical', '2m',
          'A server does not answer Prometheus.',
          'Read its log. If the process runs, GET /healthz and /readyz say what it waits for; a '
          '401 means that the token of the scrape was revoked.',
          {'up': '1x100 0x80'}, {'up': '1x180'}),
    Alert('DormouseRestarts', f'changes(process_start_time_seconds{{{JOB}}}[1h]) > 3', 'warning',
          '0m', 'A server restarts again and again.',
          'Its log says why each process ended. Exit status 1 after "a write failed" is the disk; '
          'a SIGKILL is often the memory limit of the service manager.',
          {'process_start_time_seconds': GROWING}, {'process_start_time_seconds': '5x170 6x10'}),
    Alert('DormouseSlowScrape', f'scrape_duration_seconds{{{JOB}}} > 2', 'warning', '10m',
          'A server takes seconds to answer; its loop is busy or its store is slow.',
          'Compare dormouse_commit_seconds (the disk) and process_cpu_seconds_total (the loop). '
          'dormouse doctor names what does not move.',
          {'scrape_duration_seconds': '3x180'}, {'scrape_duration_seconds': '1x180'}),
    Alert('DormouseBusyLoop', f'rate(process_cpu_seconds_total{{{JOB}}}[5m]) > 0.9', 'warning',
          '15m', 'A server uses a whole processor.',
          'Its loop is one thread. See which route or effect grows; with PostgreSQL add a server, '
          'else lower [limits] for the client that asks.',
          {'process_cpu_seconds_total': '0+58x180'}, {'process_cpu_seconds_total': '0+40x180'}),
    Alert('DormouseMemory', f'process_resident_memory_bytes{{{JOB}}} > 2e9', 'warning', '15m',
          'A server uses over 2 GB of memory.',
          'Compare dormouse_sessions_resident_bytes and dormouse_http_streams. [limits] '
          'resident_bytes bounds idle sessions; LimitAS= of the service bounds everything.',
          {'process_resident_memory_bytes': '3e9x180'},
          {'process_resident_memory_bytes': '1e9x180'}),
    Alert('DormouseFilesNearLimit', f'process_open_fds{{{JOB}}} / process_max_fds > 0.8',
          'warning', '15m', 'A server has nearly as many files open as it may.',
          'See dormouse_http_connections and dormouse_http_streams. Raise LimitNOFILE= of the '
          'service, or ulimit -n.',
          {'process_open_fds': '900x180', 'process_max_fds': '1024x180'},
          {'process_open_fds': '800x180', 'process_max_fds': '1024x180'}),
    Alert('DormouseConnectionsRefused',
          'increase(dormouse_http_connections_refused_total[15m]) > 0', 'warning', '0m',
          'Connections are turned away at the limit.',
          'See dormouse_http_connections: a client that opens streams and does not close them, or '
          'too few files for the process (LimitNOFILE=).',
          {'dormouse_http_connections_refused_total': GROWING},
          {'dormouse_http_connections_refused_total': STILL}),
    Alert('DormouseServerErrors',
          share('dormouse_http_requests_total{code="5xx"}', 'dormouse_http_requests_total')
          + ' > 0.01', 'warning', '15m', 'Over 1 % of the answers are errors of the server.',
          'Its log has "request failed" with the route and the request\'s id. 503 says what is '
          'full or away, 500 names an unreadable session: dormouse doctor.',
          {'dormouse_http_requests_total{code="5xx"}': '0+2x180',
           'dormouse_http_requests_total{code="2xx"}': '0+98x180'},
          {'dormouse_http_requests_total{code="5xx"}': '0+1x180',
           'dormouse_http_requests_total{code="2xx"}': '0+199x180'}),
)

STORE = (
    Alert('DormouseStoreUnavailable', 'dormouse_store_answers == 0', 'critical', '1m',
          'The store does not answer; requests get 503.',
          'With PostgreSQL: is it up, and can this machine reach it? The server continues by '
          'itself. With SQLite: the disk hangs; look at dmesg.',
          {'dormouse_store_answers': '0x180'}, {'dormouse_store_answers': '1x180'}),
    Alert('DormouseStoreFailed', 'dormouse_store_failed == 1', 'critical', '0m',
          'A write to the disk failed; the server stops on purpose.',
          'Check the disk before you start it again, then run dormouse verify. What was '
          'acknowledged before is durable.',
          {'dormouse_store_failed': '1x180'}, {'dormouse_store_failed': '0x180'}),
    Alert('DormouseAppendErrors', grew('dormouse_append_errors_total'), 'critical', '0m',
          'The store refuses appends.',
          'The label code and the log line "the store did not take an append" say why. store_full: '
          'free space, or delete with dormouse retention.',
          {'dormouse_append_errors_total{code="store_full"}': '_x170 1x10'},
          {'dormouse_append_errors_total{code="store_full"}': STILL}),
    Alert('DormouseDiskNearlyFull',
          f'dormouse_disk_free_bytes{{{JOB}}} / dormouse_disk_size_bytes < 0.1', 'warning', '10m',
          'Less than a tenth of the disk with the data directory is free.',
          'Delete old sessions (dormouse retention --dry-run first), move the directory, or '
          'enlarge the disk. Freed pages are used again; the file does not shrink.',
          {'dormouse_disk_free_bytes': '9x180', 'dormouse_disk_size_bytes': '100x180'},
          {'dormouse_disk_free_bytes': '11x180', 'dormouse_disk_size_bytes': '100x180'}),
    Alert('DormouseDiskFullSoon',
          f'predict_linear(dormouse_disk_free_bytes{{{JOB}}}[1h], 4 * 3600) < 0 '
          'and dormouse_disk_free_bytes offset 30m', 'critical', '15m',
          'At this rate the disk with the data directory is full within 4 hours.',
          'Compare dormouse_database_bytes: if it does not grow, something else fills the disk. '
          'A full disk stops the server; nothing that was acknowledged is lost.',
          {'dormouse_disk_free_bytes': '300000-1000x180'},
          {'dormouse_disk_free_bytes': '900000-1000x180'}),
    Alert('DormouseSlowCommits', p99('dormouse_commit_seconds') + ' > 0.5', 'warning', '15m',
          'One commit in a hundred takes over half a second.',
          'The disk is slow to sync, or shared with something busy. Every acknowledgement waits '
          'for it: move the data directory, or PostgreSQL\'s log, to another disk.',
          {'dormouse_commit_seconds_bucket{le="0.5"}': '0+90x180',
           'dormouse_commit_seconds_bucket{le="1"}': '0+100x180',
           'dormouse_commit_seconds_bucket{le="+Inf"}': '0+100x180'},
          {'dormouse_commit_seconds_bucket{le="0.25"}': '0+100x180',
           'dormouse_commit_seconds_bucket{le="+Inf"}': '0+100x180'}),
    Alert('DormouseFenced', 'increase(dormouse_fenced_total[15m]) > 0', 'warning', '0m',
          'The other servers declared this one dead and took its place.',
          'It was frozen, or its connection to the database was, for over 5 s: look for a paused '
          'machine, swapping, or the network. It has joined again, and nothing is done twice.',
          {'dormouse_fenced_total': GROWING}, {'dormouse_fenced_total': STILL}),
    Alert('DormouseNodeRemoved', 'increase(dormouse_nodes_removed_total[15m]) > 0', 'warning', '0m',
          'A server vanished, and another one has taken its place.',
          'Its sessions continue elsewhere. See GET /api/nodes for the one that is missing, and '
          'start it again. A server that is stopped with SIGTERM does not count.',
          {'dormouse_nodes_removed_total': GROWING}, {'dormouse_nodes_removed_total': STILL}),
    Alert('DormouseFeedBehind', 'dormouse_feed_behind_seconds > 10', 'warning', '5m',
          'A server is more than 10 s behind what the other servers append.',
          'Its readers see events late, and results that arrive elsewhere wake nobody here. See '
          'its processor (process_cpu_seconds_total) and how slow the database is '
          '(dormouse_commit_seconds).',
          {'dormouse_feed_behind_seconds': '20x180'}, {'dormouse_feed_behind_seconds': '2x180'}),
    Alert('DormouseCommitsUnknown', grew('dormouse_lost_commits_total{outcome="unknown"}'),
          'warning', '0m', 'It is unknown what became of a commit.',
          'The connection to PostgreSQL was lost, and it did not answer within 12 s. Nothing is '
          'done twice: the session is read again when the database is back. Callers got 503.',
          {'dormouse_lost_commits_total{outcome="unknown"}': GROWING},
          {'dormouse_lost_commits_total{outcome="unknown"}': STILL}),
    Alert('DormouseIndexFailing', 'dormouse_index_up == 0', 'warning', '5m',
          'An index for other programs cannot be written; the programs see old data.',
          'dormouse doctor says why: a full disk, a folder that is not writable, a Redis that is '
          'gone. Nothing is lost: the index catches up when that is repaired.',
          {'dormouse_index_up{index="files"}': '0x180'},
          {'dormouse_index_up{index="files"}': '1x180'}),
    Alert('DormouseIndexBehind', 'dormouse_index_behind_seconds > 60', 'warning', '10m',
          'An index for other programs is more than a minute behind.',
          'Its disk or its Redis is slower than the work, or it is being made again '
          '(dormouse_index_rebuilds_total). The server itself waits for neither.',
          {'dormouse_index_behind_seconds{index="files"}': '90x180'},
          {'dormouse_index_behind_seconds{index="files"}': '0x90 30x90'}),
    Alert('DormouseCopyOld', 'dormouse_copy_age_seconds > 600 or dormouse_copy_up == 0', 'warning',
          '10m', 'The continuous copy of the data directory fails, or is over 10 minutes old.',
          'dormouse doctor says why: a full disk, an object store that is gone or rejects the '
          'access key. The server itself waits for none of it; the copy catches up when that is '
          'repaired.',
          {'dormouse_copy_age_seconds': '700x180', 'dormouse_copy_up': '1x180'},
          {'dormouse_copy_age_seconds': '20x180', 'dormouse_copy_up': '1x180'}),
)

SESSIONS = (
    Alert('DormouseCallsOverdue', 'dormouse_pending_oldest_age_seconds > 4 * 3600', 'warning', '5m',
          'A call has waited for its outcome for over 4 hours.',
          'dormouse pending lists what waits, and for whom. Answer or reassign it. Set this limit '
          'to your own response time.',
          {'dormouse_pending_oldest_age_seconds': '20000x180'},
          {'dormouse_pending_oldest_age_seconds': '14000x180'}),
    Alert('DormouseCallsPileUp', 'dormouse_pending_calls >= 10000', 'warning', '15m',
          'At least 10,000 calls wait for an outcome.',
          'Counting ends there. See which tool pauses most: what should answer it is probably '
          'down.', {'dormouse_pending_calls': '10000x180'}, {'dormouse_pending_calls': '9999x180'}),
    Alert('DormouseSessionsNotDriven',
          'max by (job) (dormouse_sessions_outstanding) > 0 and on (job) '
          'sum by (job) (increase(dormouse_effects_started_total[15m])) == 0 unless on (job) '
          '(max by (job) (dormouse_held) == 1 or '
          'sum by (job) (dormouse_model_requests_running) > 0)', 'critical', '15m',
          'Sessions have outstanding work, and nothing has begun for half an hour.',
          'dormouse doctor names them under stuck, with the reason. An external agent or a tool '
          'that works for that long is no fault.',
          {'dormouse_sessions_outstanding': '3x180',
           'dormouse_effects_started_total{kind="tool"}': STILL,
           'dormouse_model_requests_running{model="m"}': '0x180', 'dormouse_held': '0x180'},
          {'dormouse_sessions_outstanding': '3x180',
           'dormouse_effects_started_total{kind="tool"}': STILL, 'dormouse_held': '0x180',
           'dormouse_model_requests_running{model="m"}': '1x180'}),
    Alert('DormouseWakeMissed',
          'time() - dormouse_next_wake_timestamp_seconds > 300 and '
          f'dormouse_next_wake_timestamp_seconds > 0 {NOT_HELD} '
          'unless on (job, instance) dormouse_clock_guarded == 1', 'critical', '5m',
          'A session should have woken over 5 minutes ago.',
          'dormouse doctor names it. Compare the clocks of the server and of the database.',
          {'dormouse_next_wake_timestamp_seconds': '600x180', 'dormouse_held': '0x180',
           'dormouse_clock_guarded': '0x180'},
          {'dormouse_next_wake_timestamp_seconds': '600x180', 'dormouse_held': '1x180',
           'dormouse_clock_guarded': '0x180'}),
    Alert('DormouseHeld', 'dormouse_held == 1', 'warning', '1h',
          'A restored copy has held for an hour: it answers, and starts nothing.',
          'If the original has ended, run dormouse release; if not, stop the copy.',
          {'dormouse_held': '1x180'}, {'dormouse_held': '0x130 1x50'}),
    Alert('DormouseClockGuarded', 'dormouse_clock_guarded == 1', 'warning', '5m',
          'Deadlines are delayed because the clock jumped ahead.',
          'Check the time service of the machine; the delay ends after a minute without a jump.',
          {'dormouse_clock_guarded': '1x180'}, {'dormouse_clock_guarded': '0x180'}),
    Alert('DormouseSlowResume', p99('dormouse_resume_seconds') + ' > 5', 'warning', '15m',
          'One outcome in a hundred takes over 5 s to move its session.',
          'See dormouse_commit_seconds for the disk, and dormouse_model_requests_waiting for '
          'requests that wait for a model.',
          {'dormouse_resume_seconds_bucket{le="5"}': '0+90x180',
           'dormouse_resume_seconds_bucket{le="10"}': '0+100x180',
           'dormouse_resume_seconds_bucket{le="+Inf"}': '0+100x180'},
          {'dormouse_resume_seconds_bucket{le="1"}': '0+100x180',
           'dormouse_resume_seconds_bucket{le="+Inf"}': '0+100x180'}),
    Alert('DormouseConflicts',
          share('dormouse_submissions_total{outcome="conflict"}', 'dormouse_submissions_total')
          + ' > 0.05', 'warning', '15m', 'Over 5 % of the outcomes differ from one already taken.',
          'Two parties answer the same calls, or one repeats a request with another body. The '
          'first outcome counts; dormouse explain ID shows who gave it.',
          {'dormouse_submissions_total{outcome="conflict"}': '0+10x180',
           'dormouse_submissions_total{outcome="applied"}': '0+90x180'},
          {'dormouse_submissions_total{outcome="conflict"}': '0+4x180',
           'dormouse_submissions_total{outcome="applied"}': '0+96x180'}),
    Alert('DormouseExpiries',
          share('dormouse_calls_settled_total{status="expired"}', 'dormouse_calls_settled_total',
                '1h') + ' > 0.1', 'warning', '15m',
          'Over 10 % of the calls end because nobody answered in time.',
          'Are notifications delivered (dormouse deliveries), and are deadlines long enough for '
          'the people who answer?',
          {'dormouse_calls_settled_total{status="expired"}': '0+20x180',
           'dormouse_calls_settled_total{status="completed"}': '0+80x180'},
          {'dormouse_calls_settled_total{status="expired"}': '0+5x180',
           'dormouse_calls_settled_total{status="completed"}': '0+95x180'}),
    Alert('DormouseMailBounced', grew('dormouse_events_total{type="mail_bounced"}'), 'warning',
          '0m', 'Mail between sessions could not be delivered and went back to its sender.',
          'dormouse sent lists it: the receiver was deleted, its inbox is full or it is '
          'unreadable.', {'dormouse_events_total{type="mail_bounced"}': '_x170 1x10'},
          {'dormouse_events_total{type="mail_bounced"}': STILL}),
)

WORK = (
    Alert('DormouseDeliveriesFail',
          share('dormouse_deliveries_total{outcome=~"failed|given_up"}',
                'dormouse_deliveries_total{outcome!="withdrawn"}') + ' > 0.5', 'warning',
          '15m', 'Most attempts to deliver webhooks and notifications fail.',
          'dormouse deliveries has the answer of each receiver. The server repeats an attempt for '
          'over a day; people may not know that they are asked.',
          {'dormouse_deliveries_total{outcome="failed"}': '0+6x180',
           'dormouse_deliveries_total{outcome="delivered"}': '0+4x180'},
          {'dormouse_deliveries_total{outcome="failed"}': '0+4x180',
           'dormouse_deliveries_total{outcome="delivered"}': '0+6x180'}),
    Alert('DormouseDeadLetters', 'increase(dormouse_deliveries_total{outcome="given_up"}[15m]) > 0',
          'warning', '0m', 'A webhook or a notification was given up.',
          'dormouse deliveries --state dead lists them. Repair the receiver, then send each again '
          'with --retry.',
          {'dormouse_deliveries_total{outcome="given_up"}': GROWING},
          {'dormouse_deliveries_total{outcome="given_up"}': STILL}),
    Alert('DormouseInDoubt', grew('dormouse_events_total{type="in_doubt"}'), 'warning', '0m',
          'It is unknown what a tool did when its server ended.',
          'dormouse doctor lists these calls, with the command that answers each: check whether it '
          'was done first.', {'dormouse_events_total{type="in_doubt"}': '_x170 1x10'},
          {'dormouse_events_total{type="in_doubt"}': STILL}),
    Alert('DormouseGateMissing', grew('dormouse_events_total{type="gate_missing"}'), 'warning',
          '0m', 'A call waits for a gate that is not configured any more.',
          'Configure the gate again, or cancel the call: dormouse doctor lists it under blocked.',
          {'dormouse_events_total{type="gate_missing"}': '_x170 1x10'},
          {'dormouse_events_total{type="gate_missing"}': STILL}),
    Alert('DormouseModelFails',
          'sum by (job, instance) (rate(dormouse_model_failures_total[15m])) / '
          'sum by (job, instance) (rate(dormouse_effects_started_total{kind="model"}[15m])) > 0.2',
          'warning', '15m', 'Over 20 % of the requests to models fail.',
          'The log line "model failed" has the code: a key that was rejected, a limit of the '
          'provider, or the network. Turns end with an error after 5 failures in a row.',
          {'dormouse_model_failures_total{retry="true"}': '0+30x180',
           'dormouse_effects_started_total{kind="model"}': '0+100x180'},
          {'dormouse_model_failures_total{retry="true"}': '0+10x180',
           'dormouse_effects_started_total{kind="model"}': '0+100x180'}),
    Alert('DormouseModelQueue', 'dormouse_model_requests_waiting > 10', 'warning', '15m',
          'Requests wait for a model.',
          'Raise concurrency of its [[model]] if the provider allows it, or spread agents over '
          'models.', {'dormouse_model_requests_waiting{model="m"}': '20x180'},
          {'dormouse_model_requests_waiting{model="m"}': '9x180'}),
    Alert('DormouseToolFails',
          'sum by (job, instance, tool) '
          '(rate(dormouse_tool_attempts_total{outcome=~"failed|lost"}[15m])) / '
          'sum by (job, instance, tool) (rate(dormouse_tool_attempts_total[15m])) > 0.5',
          'warning', '15m', 'Most attempts of a tool fail.',
          'The label names the tool. dormouse show of a session that called it has the error.',
          {'dormouse_tool_attempts_total{tool="t",outcome="failed"}': '0+6x180',
           'dormouse_tool_attempts_total{tool="t",outcome="done"}': '0+4x180'},
          {'dormouse_tool_attempts_total{tool="t",outcome="failed"}': '0+4x180',
           'dormouse_tool_attempts_total{tool="t",outcome="done"}': '0+6x180'}),
    Alert('DormouseValidatorFails',
          'sum by (job, instance) '
          '(increase(dormouse_validations_total{outcome=~"failed|refused"}[15m])) > 0',
          'warning', '0m', 'A program that checks results fails, or too many results wait for it.',
          'Those who submit get 503 and try again. Run the validator of the tool by hand.',
          {'dormouse_validations_total{outcome="failed"}': GROWING},
          {'dormouse_validations_total{outcome="failed"}': STILL,
           'dormouse_validations_total{outcome="misfit"}': GROWING}),
)

GROUPS = {'dormouse-server': SERVER, 'dormouse-store': STORE, 'dormouse-sessions': SESSIONS,
          'dormouse-work': WORK}
ALL = tuple(alert for group in GROUPS.values() for alert in group)


def rule(alert):
    return {
        'alert': alert.name, 'expr': alert.expression, 'for': alert.wait,
        'labels': {'severity': alert.severity},
        'annotations': {
            'summary': f'{alert.summary} ({{{{ $labels.instance }}}})'
            if 'by (job)' not in alert.expression else alert.summary,
            'description': alert.action,
        },
    }


def rules():
    groups = [{'name': name, 'rules': [rule(alert) for alert in group]}
              for name, group in GROUPS.items()]
    return ('# Alert rules for Prometheus. Written by tools/dashboard.py from tools/alerts.py.\n'
            + yaml.safe_dump({'groups': groups}, sort_keys=False, width=100, allow_unicode=True))


def place_of(alert, series):
    """Returns the labels of the servers with these series: each try has its own."""
    try_name = f'{alert.name}-{"fires" if series is alert.fires else "quiet"}'
    if 'by (job)' in alert.expression:
        return f'job="{try_name}"'
    return f'{JOB},instance="{try_name}"'


def series_of(name, place):
    """Returns the whole series of a short one."""
    metric, _, labels = name.partition('{')
    return f'{metric}{{{place},{labels}' if labels else f'{metric}{{{place}}}'


def tries(rule_file):
    """Returns what `promtool test rules` tries: each alert once firing, once quiet."""
    every = [(alert, series) for alert in ALL for series in (alert.fires, alert.quiet)]

    def expected(alert, series):
        place = place_of(alert, series)
        firing = f'ALERTS{{alertname="{alert.name}",alertstate="firing",{place}}}'
        return {'expr': f'count({firing}) or vector(0)', 'eval_time': '2h55m',
                'exp_samples': [{'labels': '{}', 'value': int(series is alert.fires)}]}
    return yaml.safe_dump({
        'rule_files': [str(rule_file)], 'evaluation_interval': '1m',
        'tests': [{
            'interval': '1m',
            'input_series': [{'series': series_of(name, place_of(alert, series)), 'values': values}
                             for alert, series in every for name, values in series.items()],
            'promql_expr_test': [expected(*one) for one in every]}]})
