from setuptools import find_packages, setup

import lab

setup(name="lab", version=lab.__version__, packages=find_packages(), install_requires=["tqdm"])
