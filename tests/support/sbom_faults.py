"""Checks bills of materials: against the official schemas, and what these cannot say.

    sbom_faults.py FILE...

Prints one line for each fault; the name of a file says its format: `*.spdx.json` or `*.cdx.json`. Needs Debian's
python3-jsonschema.
"""

import json
import pathlib
import sys
import warnings

warnings.simplefilter('ignore', DeprecationWarning)
import jsonschema  # noqa: E402

SCHEMAS = pathlib.Path(__file__).resolve().parent / 'schemas'


def schema(name):
    return json.loads((SCHEMAS / name).read_text(encoding='utf-8'))


def schema_faults(document, name):
    root = schema(name)
    store = {other['$id']: other for other in map(schema, ('spdx.schema.json', 'jsf-0.82.schema.json'))}
    resolver = jsonschema.RefResolver.from_schema(root, store=store)
    validator = jsonschema.Draft7Validator(root, resolver=resolver, format_checker=jsonschema.draft7_format_checker)
    for fault in validator.iter_errors(document):
        yield f'{"/".join(map(str, fault.absolute_path))}: {fault.message[:300]}'


def unknown(names, used, what):
    for name in sorted(set(used) - set(names)):
        yield f'{what} {name} is not in the document'
    if len(set(names)) != len(names):
        yield f'a {what} is there twice'


def spdx_faults(document):
    yield from schema_faults(document, 'spdx-2.3.schema.json')
    names = [document['SPDXID'], *(package['SPDXID'] for package in document['packages'])]
    used = [line[end] for line in document['relationships'] for end in ('spdxElementId', 'relatedSpdxElement')]
    yield from unknown(names, used, 'SPDXID')
    letters = set('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-')
    for name in names:
        if not set(name) <= letters:
            yield f'{name} is not an SPDX identifier'


def cyclonedx_faults(document):
    yield from schema_faults(document, 'bom-1.6.schema.json')
    names = [part['bom-ref'] for part in (document['metadata']['component'], *document['components'])]
    used = [ref for line in document['dependencies'] for ref in (line['ref'], *line.get('dependsOn', ()))]
    yield from unknown(names, used, 'bom-ref')


def faults_in(path):
    document = json.loads(path.read_text(encoding='utf-8'))
    yield from spdx_faults(document) if path.name.endswith('.spdx.json') else cyclonedx_faults(document)


if __name__ == '__main__':
    found = [f'{path}: {fault}' for path in map(pathlib.Path, sys.argv[1:]) for fault in faults_in(path)]
    print('\n'.join(found))
    sys.exit(bool(found))
