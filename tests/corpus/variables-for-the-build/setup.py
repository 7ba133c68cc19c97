import os

from setuptools import setup

extra = ['greeter==1.0'] if os.environ.get('WITH_KERNELS') else []
setup(name='pkg', version='1', packages=['pkg'], install_requires=extra)
