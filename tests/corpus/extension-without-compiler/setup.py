from setuptools import Extension, setup

setup(name='fast', version='1', packages=['fast'], ext_modules=[Extension('fast._core', ['fast/core.c'])])
