print('no secret')
