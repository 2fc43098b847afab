"""The words that the language of the project retired, in one list.

`tools/tidy.py` looks for those of EVERYWHERE in code, comments, literals, scripts and documents,
and for those of IDENTIFIERS in C++ code without comments, literals and tests;
`tests/docs_words.py` looks for the others in the prose of the documents.
"""
import re

WIRE = 'a name on the wire or in the database'
# Says what was, or is such a list.
LEFT_OUT = (
    'CHANGELOG.md',
    'docs/glossary.md',
    'tools/retired_words.py',
    'tools/tidy_test.py',
)
# (pattern, what to write instead, (path, reason) of what may all the same)
EVERYWHERE = (
    (r'[Cc]an not', 'cannot', ()),
    (r'[Aa]new', 'again, rebuilt', ()),
    (r'[Ww]hoever', 'anybody who, or the noun', ()),
    (r'lets? go of|puts? away|put away', 'release, unload, end', ()),
    (r'comes? to rest', 'becomes idle', ()),
    (r'is not there|are not there', 'is missing, does not exist', ()),
    (r'[Ss]trangers?', 'unknown receiver, or whose it is', ()),
    (r'[Bb]ricked', 'unreadable', ()),
    (r'in good order', 'gracefully', ()),
    (r'is told|are told|was told|be told', 'gets, is notified', ()),
    (r'stands? (?:in|behind|beside)', 'is in', ()),
    (r'goes on|go on', 'continues', ()),
    (r'bears?', 'has', ()),
    (r'played model|model that is played', 'scripted model', ()),
    (r'agents? that (?:is a program|are programs)', 'external agent', ()),
    (r'DoorAsk|DoorEntry|open_door|answer_door', 'TerminalRequest, AttachInfo', ()),
    (r'(?:Turn)?Verdicts?', 'what it is: GateDecision, PermissionAnswer', ()),
    (r'verdicts?', 'decision, answer, result, outcome', (
        ('src/core/wire/', WIRE),
        ('src/cli/render/timeline.cc', WIRE),
        ('src/protocols/acp_agent/updates.cc', WIRE),
        ('src/http/resources/operations/openapi.json', WIRE),
        ('docs/reference/events.md', WIRE),
        ('web/src/lib/timeline.ts', WIRE),
        ('web/src/lib/conversation.svelte.ts', WIRE),
        ('web/dev/journal.mjs', WIRE),
        ('clients/typescript/', WIRE),
        ('tests/rules.py', WIRE),
    )),
    (r'ProgramTurn|HeldProgram|AskingProgram|ProgramExchange', 'external agent', ()),
    (r'MailPosted|PostsBySender|posts_forgotten', 'outbox, message', ()),
    (r'Judged', 'ValidationResult', ()),
    (r'HeldClock|AcpTold|ToldCall|TellAgent|TurnTold', 'a noun of the field', ()),
    (r'Errand|Scribe|Ears|Workplace', 'a noun of the field', ()),
    (r'Postmaster|PostKey|PostBody', 'MailService, OutboxKey, OutboxBody', ()),
    (r'[Ss]idecar', 'attachment of an append', ()),
    (r'Wake::usual|usual_limits|usual_options|max_tokens_usual', 'default', ()),
    (r'dormouse::server', 'dormouse::http', ()),
    (r'disown|owed(?:_since|_max)?|owes|owing|untold', 'outstanding, unnotified', (
        ('src/core/wire/', WIRE),
        ('src/store/sqlite/schema/schema.cc', 'the name of a table in earlier releases'),
    )),
)
# Words of prose that are no names: one word, or a part of a name between underscores.
IDENTIFIERS = (
    (r'told', 'notified, shown, or the event', ()),
    (r'heard', 'received', ()),
    (r'said', 'reply, message, or what it holds', (
        ('src/http/objects/plain_files.cc', 'a script in a literal of several lines'),
    )),
    (r'luck', 'jitter, random', ()),
)
# Common in code with another meaning.
IN_DOCUMENTS = (
    (r'(?:that|what) is usual|usual (?=\d)', 'default'),
    (r'hangs', 'is undelivered, or does not answer'),
)


def compiled():
    """EVERYWHERE with patterns that match whole words, also within names."""
    return tuple((re.compile(rf'(?<![A-Za-z])(?:{pattern})(?![a-z])'), instead, excepted)
                 for pattern, instead, excepted in EVERYWHERE)


def compiled_identifiers():
    """IDENTIFIERS with patterns that match a name, or a part of one in snake_case."""
    return tuple((re.compile(rf'(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])'), instead, excepted)
                 for pattern, instead, excepted in IDENTIFIERS)


def in_documents():
    """(pattern, what to write instead) for prose."""
    rows = [(pattern, instead) for pattern, instead, _ in EVERYWHERE] + list(IN_DOCUMENTS)
    return [(re.compile(rf'(?<![A-Za-z])(?:{pattern})(?![a-z])'), word) for pattern, word in rows]
