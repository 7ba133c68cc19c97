import json
import pathlib

print(json.loads((pathlib.Path(__file__).parent / 'config' / 'model.json').read_text()))
