import re

from setuptools import find_packages, setup

with open('pkg/version.py') as file:
    version = re.search(r"'(.*)'", file.read())[1]
with open('requirements.txt') as file:
    requirements = file.read().splitlines()
setup(name='pkg', version=version, packages=find_packages(), install_requires=requirements)
