def mixed(name):
    return name * 2
