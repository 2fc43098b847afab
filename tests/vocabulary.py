#!/usr/bin/env python3
"""The words of openapi.json and docs against the enumerations of the headers, whose values have
their names as texts."""
import json
import re
import unittest

from dormouse import ROOT, main

HEADERS = ['include/dormouse/vocabulary.h', 'src/core/session/vocabulary.h',
           'src/core/session/event.h', 'src/core/port/store_rows.h', 'src/core/port/mailer.h',
           'src/http/access/tokens.h']
ENUM = re.compile(r'enum class (\w+) : std::uint8_t \{([^}]*)\}')
# Places of openapi.json, and the enumeration whose words they list: less and more than it.
SCHEMAS = [
    ('Actor.type', 'ActorType', [], []),
    ('Session.status', 'Lifecycle', ['none', 'deleted'], []),
    ('AcpSession.status', 'Lifecycle', ['none', 'deleted'], []),
    ('Event.status', 'Lifecycle', ['none', 'deleted'], []),
    ('Event.activity.type', 'Activity', [], []),
    ('Turn.finishReason', 'FinishReason', [], ['paused', None]),
    ('Turn.cause.type', 'InputSource', [], []),
    ('AcpTurn.finishReason', 'FinishReason', [], ['paused', None]),
    ('AcpTurn.cause.type', 'InputSource', [], []),
    ('PendingCall.status', 'CallState', [], []),
    ('PendingCall.reason', 'PauseReason', [], []),
    ('PendingCall.continuation', 'Continuation', [], []),
    ('Task.status', 'TaskStatus', [], []),
    ('Receipt.kind', 'SubmissionKind', [], []),
    ('Receipt.status', 'CallStatus', [], []),
    ('BriefReceipt.status', 'CallStatus', [], []),
    ('Callback.status', 'CallState', [], ['running']),
    ('PromptRequest.when', 'PromptMode', [], [None]),
    ('Token.role', 'Role', ['anyone'], []),
    ('TokenRequest.role', 'Role', ['anyone'], []),
    ('Delivery.state', 'OutboxState', [], []),
]
PARAMETERS = [
    ('/async-tool/pending', 'status', 'CallState'),
    ('/async-tool/pending', 'reason', 'PauseReason'),
    ('/api/deliveries', 'state', 'OutboxState'),
]
# Sections of docs/reference/http*.md that name each word, but those that are left out.
SECTIONS = [
    ('## Session', 'Lifecycle', ['none', 'deleted']),
    ('## Session', 'Activity', []),
    ('## Turn', 'FinishReason', []),
    ('## Message', 'InputSource', ['timer']),
    ('## Message', 'ErrorReason', []),
    ('## PendingCall', 'CallState', []),
    ('## PendingCall', 'PauseReason', []),
    ('## PendingCall', 'Continuation', []),
    ('## Task', 'TaskStatus', []),
    ('## Receipt', 'SubmissionKind', []),
    ('## Receipt', 'ActorType', []),
    ('### `GET /async-tool/pending`', 'CallState', []),
]


def enumerations():
    out = {}
    for header in HEADERS:
        text = re.sub(r'//[^\n]*', '', (ROOT / header).read_text())
        for name, values in ENUM.findall(text):
            out[name] = re.findall(r'\w+', values)
    out['CallState'] = ['waiting', 'processing', *out['CallStatus']]  # of a PendingCall
    return out


class Vocabulary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.words = enumerations()
        cls.document = json.loads(
            (ROOT / 'src/http/resources/operations/openapi.json').read_text()
        )

    def test_schemas_list_the_words_of_the_program(self):
        for place, name, less, more in SCHEMAS:
            schema, *members = place.split('.')
            found = self.document['components']['schemas'][schema]
            for member in members:
                found = found['properties'][member]
            expected = {*self.words[name], *more} - {*less}
            self.assertEqual(set(found['enum']), expected, place)
            self.assertEqual(len(found['enum']), len(expected), place)

    def test_failed_part_lists_the_words_of_the_program(self):
        lists = [state['properties']['reason']['enum']
                 for state in self.document['components']['schemas']['ToolState']['oneOf']
                 if 'reason' in state['properties']]
        self.assertEqual(lists, [self.words['ErrorReason']])

    def test_parameters_list_the_words_of_the_program(self):
        for path, parameter, name in PARAMETERS:
            lists = [one['schema']['enum']
                     for one in self.document['paths'][path]['get']['parameters']
                     if one.get('name') == parameter]
            self.assertEqual(lists, [self.words[name]], path)

    def test_reference_names_each_word(self):
        pages = ''.join(path.read_text() for path in sorted(ROOT.glob('docs/reference/http*.md')))
        for heading, name, less in SECTIONS:
            section = re.split(r'\n##', pages.split(f'\n{heading}\n')[1])[0]
            for word in {*self.words[name]} - {*less}:
                self.assertRegex(section, rf'[`"]{word}[`"]', heading)

    def test_glossary_lists_the_reasons(self):
        row = re.search(r'\n\| reason \|([^\n]*)', (ROOT / 'docs/glossary.md').read_text())[1]
        self.assertEqual(re.findall(r'`(\w+)`', row), self.words['PauseReason'])


if __name__ == '__main__':
    main()
