"""Validates documents against a JSON schema with Debian's python3-jsonschema.

    validate.py SCHEMA < DOCUMENTS

DOCUMENTS is a JSON list; the answer is the list of their faults, `null` for a valid one.
"""

import json
import pathlib
import sys

import jsonschema

schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
faults = (jsonschema.exceptions.best_match(validator.iter_errors(document)) for document in json.load(sys.stdin))
print(json.dumps([fault and fault.message for fault in faults]))
