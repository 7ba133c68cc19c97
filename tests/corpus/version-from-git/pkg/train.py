from importlib.metadata import version

print('version', version('pkg'))
