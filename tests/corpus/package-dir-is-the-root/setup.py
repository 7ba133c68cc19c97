from setuptools import find_packages, setup

setup(name='pkg', version='1', package_dir={'': '.'}, packages=find_packages(where='.', exclude=['tests*']))
