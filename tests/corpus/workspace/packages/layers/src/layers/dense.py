import yaml


class Dense:
    def __init__(self, weight):
        self.weight = yaml.safe_load(str(weight))

    def __call__(self, value):
        return self.weight * value
