import greeter
import numpy

import models
import utils  # noqa: F401

print(greeter.hello(), models.NAME, numpy.ones(2).sum())
