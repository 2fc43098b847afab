"""Makes what of the package is not written by hand: types and refusals from openapi.json, and the
blocking modules of _sync from those of _async. Nothing of it is in the repository, so that it
cannot differ from the server and from the sources that it is made from."""
import json
import keyword
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / 'dormouse'
MADE = '# Made by generate.py. Do not edit.\n'
PLAIN = {'string': 'str', 'integer': 'int', 'number': 'float', 'boolean': 'bool', 'null': 'None'}
# Words of an asynchronous module, and those of the blocking one.
WORDS = (
    (r'\basync (def|for|with)\b', r'\1'),
    (r'\bawait ', ''),
    (r'\bAwaitable\[(\w+)\]', r'\1'),
    (r'\bAsyncClient\b', 'Client'),
    (r'\bAsyncCaller\b', 'Caller'),
    (r'\bAsyncEventStream\b', 'EventStream'),
    (r'\bAsyncChanges\b', 'Changes'),
    (r'\bAsyncIterator\b', 'Iterator'),
    (r'\b__a(iter|enter|exit)__\b', r'__\1__'),
    (r'\b__anext__\b', '__next__'),
    (r'\bStopAsyncIteration\b', 'StopIteration'),
    (r'\banext\(', 'next('),
    (r'\basynchronous\b', 'blocking'),
)


def openapi_path():
    inside = HERE / 'openapi.json'
    return inside if inside.exists() else \
        HERE.parent.parent / 'src/http/resources/operations/openapi.json'


def blocking(text):
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return MADE + text


class Types:
    """TypedDicts of the schemas. Objects within objects get names of their own."""

    def __init__(self, schemas):
        self.done = []
        for name, schema in schemas.items():
            if 'properties' in schema:
                self.record(name, schema)
            else:
                self.done.append(f'{name} = {self.type(schema, name)!s}')

    def type(self, schema, name):
        if '$ref' in schema:
            return f"'{schema['$ref'].rpartition('/')[2]}'"
        if 'const' in schema:
            return f'Literal[{schema["const"]!r}]'
        if 'enum' in schema:
            return f'Literal[{", ".join(map(repr, schema["enum"]))}]'
        if several := schema.get('oneOf') or schema.get('anyOf'):
            return self.union([self.type(one, f'{name}{n}') for n, one in enumerate(several, 1)])
        every = [one for one in schema.get('allOf', []) if 'if' not in one]
        if every:
            return self.type(every[0], name)
        if 'type' not in schema:
            return 'Any'
        kinds = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
        return self.union([self.single(kind, schema, name) for kind in kinds])

    def union(self, types):
        types = list(dict.fromkeys(types))
        return types[0] if len(types) == 1 else f'Union[{", ".join(types)}]'

    def single(self, kind, schema, name):
        if kind == 'array':
            return f'List[{self.type(schema.get("items", {}), name + "Item")}]'
        if kind != 'object':
            return PLAIN[kind]
        if 'properties' in schema:
            self.record(name, schema)
            return f"'{name}'"
        rest = schema.get('additionalProperties')
        return f'Dict[str, {self.type(rest, name + "Value") if isinstance(rest, dict) else "Any"}]'

    def record(self, name, schema):
        needed = set(schema.get('required', []))
        made = {key: self.type(value, name + key[0].upper() + key[1:])
                for key, value in schema['properties'].items()}
        parts = [(f'_{name}', [k for k in made if k in needed], 'TypedDict', ''),
                 (name, [k for k in made if k not in needed], f'_{name}', ', total=False')]
        described = schema.get('description', '').replace('\\', '\\\\').replace('"""', "'''")
        if any(keyword.iskeyword(key) for key in made):
            return self.functional(name, parts, made)
        for title, keys, base, total in parts:
            lines = [f'class {title}({base}{total}):']
            if described and title == name:
                lines.append(f'    """{described}"""')
            lines += [f'    {key}: {made[key]}' for key in keys]
            if len(lines) == 1:
                lines.append('    pass')
            self.done.append('\n'.join(lines))

    def functional(self, name, parts, made):
        """For members whose names are words of Python, such as `from`."""
        (inner, needed, _, _), (_, others, _, _) = parts
        for title, keys, total in ((inner, needed, ''), (f'{inner}More', others, ', total=False')):
            members = ', '.join(f'{key!r}: {made[key]}' for key in keys)
            self.done.append(f'{title} = TypedDict({title!r}, {{{members}}}{total})')
        self.done.append(f'class {name}({inner}, {inner}More):\n    pass')


def types_module(api):
    done = Types(api['components']['schemas']).done
    # Aliases of other types come last: they name classes.
    classes = [one for one in done if not re.match(r'[A-Z]\w+ = (?!TypedDict)', one)]
    aliases = [one for one in done if one not in classes]
    return (MADE + '"""Objects of the API, as they are in JSON."""\n'
            'from typing import Any, Dict, List, Literal, TypedDict, Union\n\n'
            + '\n\n'.join(classes + aliases) + '\n')


def refusals_module(api):
    codes = api['components']['schemas']['Code']['enum']
    classes = {code: ''.join(word.capitalize() for word in code.split('_')) for code in codes}
    text = MADE + '"""One class for each code of docs/errors."""\nfrom .errors import Refusal\n'
    for code, name in classes.items():
        text += f'\n\nclass {name}(Refusal):\n    """Code `{code}`."""\n'
    rows = ''.join(f'    {code!r}: {name},\n' for code, name in classes.items())
    return text + f'\n\nBY_CODE = {{\n{rows}}}\n'


def operations_module(api):
    rows = ''
    for path, methods in api['paths'].items():
        for method, operation in methods.items():
            if 'operationId' not in operation:
                continue
            keyed = any(one.get('$ref', '').endswith('/key')
                        for one in operation.get('parameters', []))
            rows += f'    {operation["operationId"]!r}: ({method.upper()!r}, {path!r}, {keyed}),\n'
    about = '# Method, path, whether it takes an Idempotency-Key.\n'
    return f'{MADE}{about}OPERATIONS = {{\n{rows}}}\n'


def package():
    """Returns {path in the package: text}."""
    api = json.loads(openapi_path().read_text())
    found = {
        str(path.relative_to(SOURCE)): path.read_text()
        for path in sorted(SOURCE.rglob('*'))
        if path.suffix == '.py' or path.name == 'py.typed'
    }
    for name in ('http', 'caller', 'client', 'stream', 'changes'):
        found[f'_sync/{name}.py'] = blocking(found[f'_async/{name}.py'])
    found['types.py'] = types_module(api)
    found['refusals.py'] = refusals_module(api)
    found['_operations.py'] = operations_module(api)
    return found
