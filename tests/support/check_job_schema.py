"""Holds the table of job fields against the API's discovery document.

    check_job_schema.py SCHEMA_TABLE ORACLE_DIRECTORY
"""

import json
import pathlib
import sys

PREFIX = 'GoogleCloudAiplatformV1'
TYPES = {'int64': 'int64', 'google-duration': 'duration', 'google-datetime': 'timestamp'}


def read_table(path):
    """Messages as {name: {field: (type, values, is list, is required)}}."""
    enums, messages = {}, {}
    for line in path.read_text(encoding='utf-8').splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        words = line.split()
        if words[0].startswith('enum'):
            enums[words[1]] = words[2:]
        elif line.startswith(' '):
            name, kind, *flags = words
            messages[current][name] = (
                'enumeration' if kind in enums else kind, set(enums.get(kind, ())), 'list' in flags, 'required' in flags)
        else:
            current = line
            messages[current] = {}
    return messages


def official_type(field):
    if '$ref' in field:
        return field['$ref'].removeprefix(PREFIX)
    if 'enum' in field:
        return 'enumeration'
    kind = field.get('type')
    if kind == 'string':
        return TYPES.get(field.get('format'), 'string')
    return {'integer': 'int32', 'boolean': 'bool', 'object': 'map'}.get(kind, kind)


def official(field):
    if field.get('readOnly'):
        return 'output', set(), False, False
    is_list = field.get('type') == 'array'
    item = field['items'] if is_list else field
    is_required = field.get('description', '').startswith('Required.')
    return official_type(item), set(item.get('enum', ())), is_list, is_required


def differences(table, schemas):
    for message, fields in table.items():
        properties = schemas[PREFIX + message]['properties']
        for name in sorted(fields.keys() | properties.keys()):
            ours = fields.get(name)
            theirs = official(properties[name]) if name in properties else None
            if ours != theirs:
                yield f'{message}.{name}: the table says {ours}, the API {theirs}'
            elif theirs[0] not in table and theirs[0][0].isupper():
                yield f'{message}.{name}: the table has no {theirs[0]}'


def main():
    table_path, oracle = map(pathlib.Path, sys.argv[1:])
    document = next(oracle.glob('discovery/aiplatform-v1-pruned*.json'))
    schemas = json.loads(document.read_text(encoding='utf-8'))['schemas']
    table = read_table(table_path)
    found = list(differences(table, schemas))
    print('\n'.join(found) or f'{len(table)} messages agree')
    return 1 if found or 'CustomJob' not in table else 0


if __name__ == '__main__':
    sys.exit(main())
