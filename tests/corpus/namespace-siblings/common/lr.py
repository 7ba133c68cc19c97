def rate(epoch):
    return 1 / epoch
