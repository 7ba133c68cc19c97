batch_size = 12
exec(open('configurator.py').read())
print('batch', batch_size)
