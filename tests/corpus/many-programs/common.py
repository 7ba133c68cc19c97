def step(model):
    pass
