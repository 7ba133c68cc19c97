import json

print(json.load(open('config.json')), open('shared/note.txt').read())
