from setuptools import setup, find_packages
setup(name='x', packages=find_packages('src'), package_dir={'': 'src'}, version=f'{v}')
import a.b as c
from . import d
try:
    import e
except ImportError: pass
