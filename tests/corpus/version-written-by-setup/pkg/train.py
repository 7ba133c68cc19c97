import pkg

print('version', pkg.__version__)
