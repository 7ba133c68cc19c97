from setuptools import find_packages, setup

setup(name='lab', version='1', packages=find_packages(), extras_require={'gpu': ['greeter==1.0']})
