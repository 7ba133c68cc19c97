class Net:
    name = 'net'
