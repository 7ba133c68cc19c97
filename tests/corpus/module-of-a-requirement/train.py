print('dispatched')
