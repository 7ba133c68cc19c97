try:
    from inspect import getargspec
except ImportError:
    from inspect import getfullargspec as getargspec
from fractions import gcd


def greatest(one, other):
    assert getargspec(greatest).args == ['one', 'other']
    return gcd(one, other)
