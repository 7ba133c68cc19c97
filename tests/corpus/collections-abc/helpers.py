from collections import Hashable


def is_hashable(value):
    return isinstance(value, Hashable)
