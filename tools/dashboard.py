#!/usr/bin/env python3
"""Writes the Grafana dashboard and the alert rules of packaging/observability.

    tools/dashboard.py           writes them
    tools/dashboard.py --check   names those that are not up to date; the exit status is then 1

The dashboard has a panel for each metric of docs/reference/metrics.md, the alert rules are those of
tools/alerts.py.
"""
import dataclasses
import json
import pathlib
import re
import sys

import alerts

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/reference/metrics.md'
FOLDER = ROOT / 'packaging/observability'
ROW = re.compile(r'\| `(\w+)` \| (counter|gauge|histogram) \|([^|]*)\| (.*) \|')
HERE = 'job="$job",instance=~"$instance"'
SOURCE = {'type': 'prometheus', 'uid': '$datasource'}
SERIES_MAX = 20  # of a panel whose metric has several labels
COLUMNS, WIDE, HIGH, TILE = 24, 8, 7, 4  # of Grafana's grid: all, a panel, its height, a tile


@dataclasses.dataclass(frozen=True)
class Metric:
    """A family of metrics: one row of the page."""
    name: str
    kind: str
    labels: tuple
    what: str
    section: str


def metrics(text):
    """Returns the families that the page describes."""
    found, section = [], ''
    for line in text.splitlines():
        if line.startswith('## '):
            section = line[3:]
        elif row := ROW.fullmatch(line):
            labels = tuple(re.findall(r'`(\w+)`', row[3]))
            found.append(Metric(row[1], row[2], labels, row[4], section))
    return found


def plain(text):
    return re.sub(r'\[([^\]]+)\]\([^)]+\)', r'\1', text).replace('`', '')


def queries(metric):
    """Returns (expression, legend) of the lines of its panel."""
    name, by = metric.name, ', '.join(metric.labels)
    legend = ' '.join(f'{{{{{label}}}}}' for label in metric.labels) or '{{instance}}'
    if metric.kind == 'histogram':
        each = ', '.join(('le', *metric.labels))
        rate = f'sum by ({each}) (rate({name}_bucket{{{HERE}}}[$__rate_interval]))'
        return [(f'histogram_quantile({q}, {rate})',
                 f'{legend} p{round(q * 100)}' if by else f'p{round(q * 100)}') for q in (.5, .99)]
    if metric.kind == 'counter':
        rate = f'sum by ({by or "instance"}) (rate({name}{{{HERE}}}[$__rate_interval]))'
        return [(f'topk({SERIES_MAX}, {rate})' if len(metric.labels) > 1 else rate, legend)]
    if name.endswith('_timestamp_seconds'):
        return [(f'{name}{{{HERE}}} - time()', legend)]
    if name == 'process_start_time_seconds':
        return [(f'time() - {name}{{{HERE}}}', legend)]
    return [(f'{name}{{{HERE}}}' if not by else f'sum by ({by}) ({name}{{{HERE}}})', legend)]


def unit(metric):
    if metric.name.endswith('_seconds'):
        return 's'
    if 'cpu_seconds' in metric.name:
        return 'percentunit'
    if metric.kind == 'counter':
        return 'cps'
    return 'bytes' if metric.name.endswith('_bytes') else 'short'


def title(metric):
    words = metric.name.removeprefix('dormouse_').replace('process_', 'process ', 1)
    words = re.sub(r'_total$|_timestamp_seconds$|_seconds$|_bytes$', '', words).replace('_', ' ')
    return words[0].upper() + words[1:]


def targets(lines):
    return [{'refId': chr(ord('A') + number), 'datasource': SOURCE, 'expr': expression,
             'legendFormat': legend} for number, (expression, legend) in enumerate(lines)]


def panel(metric, number, place):
    return {
        'id': number, 'type': 'timeseries', 'title': title(metric), 'gridPos': place,
        'description': f'{metric.name}: {plain(metric.what)}', 'datasource': SOURCE,
        'fieldConfig': {'defaults': {'unit': unit(metric)}, 'overrides': []},
        'options': {'legend': {'displayMode': 'list', 'placement': 'bottom'},
                    'tooltip': {'mode': 'multi'}},
        'targets': targets(queries(metric)),
    }


# Title, unit, expression, and from which value on it is red.
TILES = (
    ('Servers that answer', 'short', f'sum(dormouse_store_answers{{{HERE}}})', None),
    ('Calls that wait', 'short', f'max(dormouse_pending_calls{{{HERE}}})', 10_000),
    ('Longest wait', 's', f'max(dormouse_pending_oldest_age_seconds{{{HERE}}})', 4 * 3600),
    ('Outstanding sessions', 'short', f'max(dormouse_sessions_outstanding{{{HERE}}})', 1000),
    ('Resume, p99', 's', 'histogram_quantile(0.99, sum by (le) '
     f'(rate(dormouse_resume_seconds_bucket{{{HERE}}}[1h])))', 5),
    ('Alerts that fire', 'short',
     'count(ALERTS{alertname=~"Dormouse.*",alertstate="firing"}) or vector(0)', 1),
)


def tile(number, column, name, shown_unit, expression, red):
    steps = [{'color': 'green', 'value': None}]
    if red is not None:
        steps.append({'color': 'red', 'value': red})
    return {
        'id': number, 'type': 'stat', 'title': name, 'datasource': SOURCE,
        'gridPos': {'x': column * TILE, 'y': 0, 'w': TILE, 'h': TILE},
        'fieldConfig': {'defaults': {'unit': shown_unit, 'thresholds': {
            'mode': 'absolute', 'steps': steps}}, 'overrides': []},
        'options': {'reduceOptions': {'calcs': ['lastNotNull']}},
        'targets': targets([(expression, '')]),
    }


def panels(families):
    out = [tile(column + 1, column, *about) for column, about in enumerate(TILES)]
    y, column, section = TILE, 0, None
    for metric in families:
        if metric.section != section or column == COLUMNS // WIDE:
            y += HIGH if section else 0
            column = 0
        if metric.section != section:
            section = metric.section
            out.append({'id': len(out) + 1, 'type': 'row', 'title': section, 'collapsed': False,
                        'gridPos': {'x': 0, 'y': y, 'w': COLUMNS, 'h': 1}, 'panels': []})
            y += 1
        place = {'x': column * WIDE, 'y': y, 'w': WIDE, 'h': HIGH}
        out.append(panel(metric, len(out) + 1, place))
        column += 1
    return out


def variable(name, query, **more):
    return {'name': name, 'type': 'query', 'datasource': SOURCE, 'query': query, 'refresh': 2,
            'sort': 1, **more}


def dashboard(families):
    return {
        'uid': 'dormouse', 'title': 'Dormouse', 'tags': ['dormouse'], 'schemaVersion': 38,
        'editable': True, 'refresh': '30s', 'time': {'from': 'now-6h', 'to': 'now'},
        'timezone': 'browser', 'annotations': {'list': []},
        'templating': {'list': [
            {'name': 'datasource', 'type': 'datasource', 'query': 'prometheus'},
            variable('job', 'label_values(dormouse_store_answers, job)'),
            variable('instance', 'label_values(dormouse_store_answers{job="$job"}, instance)',
                     multi=True, includeAll=True, allValue='.*',
                     current={'text': ['All'], 'value': ['$__all']}),
        ]},
        'panels': panels(families),
    }


def files():
    """Returns {path: text} of what is generated."""
    drawn = json.dumps(dashboard(metrics(PAGE.read_text())), indent=1, ensure_ascii=False)
    return {FOLDER / 'dashboard.json': drawn + '\n', FOLDER / 'alerts.yaml': alerts.rules()}


def main():
    old = [path for path, text in files().items()
           if not path.exists() or path.read_text() != text]
    if sys.argv[1:] == ['--check']:
        for path in old:
            print(f'{path.relative_to(ROOT)} is not up to date: tools/dashboard.py')
        return 1 if old else 0
    for path in old:
        path.write_text(files()[path])
    return 0


if __name__ == '__main__':
    sys.exit(main())
