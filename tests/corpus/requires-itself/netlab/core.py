def name():
    return 'netlab'
