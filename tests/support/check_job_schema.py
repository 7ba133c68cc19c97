"""Compares the tables of job fields with the APIs' discovery documents.

    check_job_schema.py TABLES_DIRECTORY ORACLE_DIRECTORY
"""

import json
import pathlib
import sys

# Table, document, prefix of its schemas, fields that a table omits.
DOCUMENTS = (
    ('schema.txt', 'aiplatform-v1', 'GoogleCloudAiplatformV1', set()),
    ('legacy_schema.txt', 'ml-v1', 'GoogleCloudMlV1__', {('LegacyJob', 'predictionInput')}),
)
# Fields of the legacy service's job, which are read to be ignored.
IGNORED = {'trainingOutput', 'predictionOutput', 'etag'}
TYPES = {'int64': 'int64', 'google-duration': 'duration', 'google-datetime': 'timestamp'}


def read_table(path):
    """Returns messages as {name: {field: (type, values, is keyed, is list, is required)}}, and {name: [oneofs]}."""
    enums, messages, groups = {}, {}, {}
    for line in path.read_text(encoding='utf-8').splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        words = line.split()
        if words[0].startswith('enum'):
            enums[words[1]] = words[2:]
        elif words[0] == 'oneof':
            groups.setdefault(current, []).append(set(words[1:]))
        elif line.startswith(' '):
            name, kind, *flags = words
            messages[current][name] = ('enumeration' if kind in enums else kind, set(enums.get(kind, ())),
                                       'keyed' in flags, 'list' in flags, 'required' in flags)
        else:
            current = line
            messages[current] = {}
    return messages, groups


def official_type(field, prefix, table):
    if '$ref' in field:
        name = field['$ref'].removeprefix(prefix)
        return 'Legacy' + name if 'Legacy' + name in table else name
    if 'enum' in field:
        return 'enumeration'
    kind = field.get('type')
    if kind == 'string':
        return TYPES.get(field.get('format'), 'string')
    return {'integer': 'int32', 'boolean': 'bool', 'object': 'map', 'number': 'double'}.get(kind, kind)


def official(name, field, prefix, table):
    description = field.get('description', '')
    if field.get('readOnly') or description.startswith('Output only') or 'LegacyJob' in table and name in IGNORED:
        return 'output', set(), False, False, False
    is_list = field.get('type') == 'array'
    item = field['items'] if is_list else field
    values = item.get('additionalProperties', {})
    is_keyed = '$ref' in values
    item = values if is_keyed else item
    # The legacy API requires fields that only some of its jobs have.
    is_required = description.startswith('Required.') and 'LegacyJob' not in table
    return official_type(item, prefix, table), set(item.get('enum', ())), is_keyed, is_list, is_required


def differences(table, schemas, prefix, left_out):
    for message, fields in table.items():
        properties = schemas[prefix + message.removeprefix('Legacy')]['properties']
        for name in sorted(fields.keys() | properties.keys()):
            if (message, name) in left_out:
                continue
            ours = fields.get(name)
            theirs = official(name, properties[name], prefix, table) if name in properties else None
            if ours != theirs:
                yield f'{message}.{name}: the table says {ours}, the API {theirs}'
            elif theirs[0] not in table and theirs[0][0].isupper():
                yield f'{message}.{name}: the table has no {theirs[0]}'


def group_differences(groups, table, oneofs, prefix):
    official_groups = {name.removeprefix(prefix): [set(group) for group in lists] for name, lists in oneofs.items()}
    for message in table:
        ours, theirs = groups.get(message, []), official_groups.get(message, [])
        if ours != theirs:
            yield f'{message}: the table says oneof {ours}, the API {theirs}'


def main():
    tables, oracle = map(pathlib.Path, sys.argv[1:])
    found, count = [], 0
    for file, document, prefix, left_out in DOCUMENTS:
        table, groups = read_table(tables / file)
        path = next(oracle.glob(f'discovery/{document}-pruned*.json'))
        schemas = json.loads(path.read_text(encoding='utf-8'))['schemas']
        found += differences(table, schemas, prefix, left_out)
        if document == 'aiplatform-v1':
            oneofs = json.loads((oracle / 'discovery' / 'aiplatform-v1-oneofs.json').read_text(encoding='utf-8'))
            found += group_differences(groups, table, oneofs, prefix)
        count += len(table)
    print('\n'.join(found) or f'{count} messages agree')
    return 1 if found or not count else 0


if __name__ == '__main__':
    sys.exit(main())
