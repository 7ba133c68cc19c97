import dateutil.parser
import numpy
import yaml

print(dateutil.parser.parse('2020-01-02').year, numpy.__name__, yaml.__name__)
