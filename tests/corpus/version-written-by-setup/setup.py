import pathlib

from setuptools import find_packages, setup

version = pathlib.Path('version.txt').read_text().strip()
pathlib.Path('pkg/version.py').write_text(f"__version__ = '{version}'\n")
setup(name='pkg', version=version, packages=find_packages())
