name = 'a'
