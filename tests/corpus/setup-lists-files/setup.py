import glob

from setuptools import find_packages, setup

setup(name='pkg', version='1', packages=find_packages(), scripts=glob.glob('bin/*'), package_data={'pkg': ['*.csv']})
