scale = 7
