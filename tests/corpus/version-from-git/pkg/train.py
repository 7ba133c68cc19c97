from importlib.metadata import version

print(version('pkg'))
