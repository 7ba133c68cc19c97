from setuptools import setup

setup(
    name='spin',
    version='1',
    packages=['spin'],
    install_requires=[
        'six',
        'mpi4py',
    ],
)
