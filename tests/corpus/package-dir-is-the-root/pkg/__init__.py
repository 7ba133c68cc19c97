NAME = 'identity'
