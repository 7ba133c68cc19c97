print('prepared')
