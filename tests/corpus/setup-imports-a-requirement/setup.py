import numpy
from setuptools import find_packages, setup

assert numpy.get_include()
setup(name='pkg', version='1', packages=find_packages(), install_requires=['numpy'])
