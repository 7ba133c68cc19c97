from setuptools import setup

setup(name='mathutil', version='1.2', packages=['mathutil'])
