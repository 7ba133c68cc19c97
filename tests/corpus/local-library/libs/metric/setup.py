from setuptools import setup

setup(name='metric', version='0.1', packages=['metric'], install_requires=['greeter'])
