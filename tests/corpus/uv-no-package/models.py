NAME = 'flat'
