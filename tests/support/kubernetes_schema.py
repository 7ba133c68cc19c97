"""Decoding of Kubernetes objects as its server does it: types, unknown fields and duplicate keys.

The fields are in kubernetes-v1.36-pruned.json.
"""

import json
import pathlib
import re

import yaml

from kubernetes_store import Refused, invalid

TABLE = json.loads(pathlib.Path(__file__).with_name('kubernetes-v1.36-pruned.json').read_text(encoding='utf-8'))
TYPES, REQUIRED, ENUMS, LISTS = TABLE['types'], TABLE['required'], TABLE['enums'], TABLE['lists']
QUANTITY = re.compile(r'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$')
NOT_CHECKED = ('<nil>', 'Invalid value: null: some validation rules were not checked because the object was invalid; '
               'correct the existing errors to complete validation')


class BadType(Exception):
    """The message of Go's decoder."""


class Keys(dict):
    """A JSON object that remembers keys it had twice."""

    twice = ()


class Loader(yaml.SafeLoader):
    """Reads YAML 1.1 as Go's library does, to which `y` and `n` are booleans."""


Loader.add_implicit_resolver('tag:yaml.org,2002:bool', re.compile('^[yYnN]$'), list('yYnN'))
Loader.bool_values = {**yaml.SafeLoader.bool_values, 'y': True, 'n': False}


def pairs(items):
    result = Keys(items)
    if len(result) != len(items):
        names = [name for name, _ in items]
        result.twice = sorted({name for name in names if names.count(name) > 1})
    return result


def decode(kind, body, content_type):
    """Returns the object in a body, or the refusal of one that cannot be read."""
    what = f'the object provided is unrecognized (must be of type {kind.kind}): couldn\'t get version/kind; json parse error: '
    if content_type == 'application/yaml':
        return yaml.load(body, Loader)
    if not body:
        raise Refused(400, what + 'unexpected end of JSON input (<empty>)')
    try:
        item = json.loads(body, object_pairs_hook=pairs)
    except ValueError as fault:
        text = body.decode(errors='replace')
        letter = text[fault.pos:fault.pos + 1] if isinstance(fault, json.JSONDecodeError) else '?'
        place = 'object key string' if isinstance(fault, json.JSONDecodeError) and 'property name' in fault.msg else 'value'
        raise Refused(400, f"{what}invalid character '{letter}' looking for beginning of {place} ({text})") from None
    if not isinstance(item, dict):
        raise Refused(400, what + 'cannot unmarshal')
    return item


GO = {dict: 'object', Keys: 'object', list: 'array', str: 'string', bool: 'bool', int: 'number', float: 'number'}


def wrong(value, owner, path, wanted):
    return BadType(f'json: cannot unmarshal {GO[type(value)]} into Go struct field {owner}.{path} of type {wanted}')


def check_types(value, kind, path='', owner=''):
    """Raises the first fault of types in document order, as encoding/json words it."""
    if value is None or kind == 'any':
        return
    if kind.startswith('['):
        if not isinstance(value, list):
            raise wrong(value, owner, path, '[]v1.' + kind[1:-1])
        for item in value:
            check_types(item, kind[1:-1], path, owner)
    elif kind.startswith('{'):
        if not isinstance(value, dict):
            raise wrong(value, owner, path, 'map[string]' + kind[1:-1])
        for item in value.values():
            check_types(item, kind[1:-1], path, owner)
    elif kind in TYPES:
        if not isinstance(value, dict):
            raise wrong(value, owner, path, 'v1.' + kind)
        for name, item in value.items():
            if name in TYPES[kind]:
                check_types(item, TYPES[kind][name], f'{path}.{name}'.lstrip('.'), kind)
    else:
        check_scalar(value, kind, path, owner)


def check_scalar(value, kind, path, owner):
    whole = isinstance(value, int) and not isinstance(value, bool)
    if kind == 'Quantity':
        if not isinstance(value, str) and not whole and not isinstance(value, float):
            raise wrong(value, owner, path, 'resource.Quantity')
        if not QUANTITY.match(str(value)):
            raise BadType(f"quantities must match the regular expression '{QUANTITY.pattern}'")
    elif kind in ('int32', 'int64') and not whole:
        raise wrong(value, owner, path, kind)
    elif kind == 'boolean' and not isinstance(value, bool):
        raise wrong(value, owner, path, 'bool')
    elif kind in ('string', 'Time') and not isinstance(value, str):
        raise wrong(value, owner, path, kind if kind == 'string' else 'time.Time')
    elif kind == 'IntOrString' and not whole and not isinstance(value, str):
        raise wrong(value, owner, path, 'intstr.IntOrString')


def strict_faults(value, kind, path=''):
    """Returns unknown and duplicate fields, in document order."""
    if isinstance(value, dict) and kind in TYPES:
        for name in getattr(value, 'twice', ()):
            yield f'duplicate field "{path}.{name}"'.replace('".', '"', 1)
        for name, item in value.items():
            where = f'{path}.{name}'.lstrip('.')
            if name in TYPES[kind]:
                yield from strict_faults(item, TYPES[kind][name], where)
            else:
                yield f'unknown field "{where}"'
    elif isinstance(value, list) and kind.startswith('['):
        for number, item in enumerate(value):
            yield from strict_faults(item, kind[1:-1], f'{path}[{number}]')
    elif isinstance(value, dict) and kind.startswith('{'):
        for name, item in value.items():
            yield from strict_faults(item, kind[1:-1], f'{path}.{name}')


def without_unknown(value, kind):
    """Returns the object without the fields that the server does not know."""
    if isinstance(value, dict) and kind in TYPES:
        return {name: without_unknown(item, TYPES[kind][name]) for name, item in value.items() if name in TYPES[kind]}
    if isinstance(value, list) and kind.startswith('['):
        return [without_unknown(item, kind[1:-1]) for item in value]
    if isinstance(value, dict):
        inner = kind[1:-1] if kind.startswith('{') else 'any'
        return {name: without_unknown(item, inner) for name, item in value.items()}
    return value


def read_object(kind, body, content_type, validation):
    """Returns the object and warnings; Refused as the server refuses what it cannot decode."""
    item = decode(kind, body, content_type)
    version = kind.version.rpartition('/')[2]
    cannot = f'{kind.kind} in version "{version}" cannot be handled as a {kind.kind}: '
    if item.get('kind', kind.kind) != kind.kind:
        other, place = item['kind'], (item.get('apiVersion') or '').rpartition('/')[2]
        raise Refused(400, f'{other} in version "{place}" cannot be handled as a {kind.kind}: converting ({place}.{other}) to '
                      f'({kind.group}.{kind.kind}): unknown conversion')
    if kind.kind not in TYPES:
        return json.loads(json.dumps(item)), []
    if not kind.is_custom:
        try:
            check_types(item, kind.kind)
        except BadType as fault:
            raise Refused(400, cannot + str(fault)) from None
    faults = list(strict_faults(item, kind.kind))
    faults = sorted(faults) if kind.is_custom else faults
    if faults and validation == 'Strict':
        raise Refused(400, cannot + 'strict decoding error: ' + ', '.join(faults))
    item = without_unknown(json.loads(json.dumps(item)), kind.kind)
    return item, [] if validation == 'Ignore' else faults


def check_webhook_types(kind, item, webhook):
    """Refuses wrong types as a mutating webhook does: its decoder runs before the schema is checked."""
    try:
        check_types(item, kind.kind)
    except BadType as fault:
        raise Refused(400, f'admission webhook "{webhook}" denied the request: {fault}', reason=None) from None


def schema_faults(value, kind, path=''):
    """Returns what the schema of a custom resource refuses: enumerations, duplicates, missing fields, null lists."""
    if isinstance(value, list) and kind.startswith('['):
        for number, item in enumerate(value):
            yield from schema_faults(item, kind[1:-1], f'{path}[{number}]')
        return
    if not isinstance(value, dict) or kind not in TYPES:
        return
    for name in REQUIRED.get(kind, []):
        if name not in value:
            yield f'{path}.{name}'.lstrip('.'), 'Required value'
    for name, item in value.items():
        where = f'{path}.{name}'.lstrip('.')
        choice = ENUMS.get(f'{kind}.{name}')
        if choice and item not in choice:
            yield where, f'Unsupported value: "{item}": supported values: ' + ', '.join(f'"{word}"' for word in choice)
        yield from schema_faults(item, TYPES[kind].get(name, 'any'), where)
    if kind == 'PodSpec' and value.get('containers') is None:
        field = f'{path}.containers'
        yield field, f'Invalid value: "null": {field} in body must be of type array: "null"'


def duplicates(value, kind, path=''):
    """Returns items of a list whose key appears twice."""
    if isinstance(value, list) and kind.startswith('['):
        for number, item in enumerate(value):
            yield from duplicates(item, kind[1:-1], f'{path}[{number}]')
    if not isinstance(value, dict) or kind not in TYPES:
        return
    for name, item in value.items():
        where = f'{path}.{name}'.lstrip('.')
        keys, seen = LISTS.get(f'{kind}.{name}', []), []
        for number, element in enumerate(item if keys and isinstance(item, list) else []):
            mark = {key: element.get(key) for key in keys}
            if mark in seen:
                yield f'{where}[{number}]', 'Duplicate value: ' + json.dumps(mark, separators=(',', ':'))
            seen.append(mark)
        yield from duplicates(item, TYPES[kind].get(name, 'any'), where)


def check_schema(kind, item, rules=()):
    """Refuses with 422 what the schema of a custom resource forbids; `rules` are faults of its CEL rules."""
    name = item['metadata'].get('name', '')
    faults = list(schema_faults(item, kind.kind))
    if faults:
        raise invalid(kind, name, [*faults, NOT_CHECKED])
    faults = [*duplicates(item, kind.kind), *rules]
    if faults:
        raise invalid(kind, name, faults)
